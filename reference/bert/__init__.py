"""What is put on top of an encoder's states, and what goes into it."""
