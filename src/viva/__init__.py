"""viva: an autograder for NLP and deep-learning coursework."""

__version__ = "0.1.0"
