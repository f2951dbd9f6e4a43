"""One submission in its boxes: load it, ask it, load it again when a box ends."""
