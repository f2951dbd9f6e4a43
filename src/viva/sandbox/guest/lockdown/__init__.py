"""One wall per file, in the order in which they are raised; every function either holds or raises OSError."""
