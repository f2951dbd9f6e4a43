"""The web pages of `viva review`, and their access control."""
