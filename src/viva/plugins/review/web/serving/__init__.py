"""The server that shows the pages: its port, its timeouts, and the browser that it opens."""
