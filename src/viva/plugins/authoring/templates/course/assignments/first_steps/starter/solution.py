def word_counts(text):
    raise NotImplementedError
