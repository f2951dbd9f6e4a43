"""An assignment made from an instructor's solved notebook: its questions, its answer key and proposed tests."""
