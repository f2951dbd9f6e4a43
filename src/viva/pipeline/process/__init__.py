"""The examiner as a process: start it, send it requests, and the loop that answers them."""
