"""Send grades to a learning platform, and fetch submissions from it, over the platform's documented interface."""
