"""The isolation layers, one per file; every function either applies its layer or raises OSError."""
