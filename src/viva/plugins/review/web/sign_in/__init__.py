"""Access to the pages: the address with its token, sessions, the sign-in page, and checks of each request."""
