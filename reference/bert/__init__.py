"""BERT: what goes into the encoder, and what is put on top of its states."""
