"""Question 1.1."""

from viva.grading import agree, number, visibility, weight


@number("1.1")
@weight(4)
def test_word_counts(student, key):
    """The words of a short text are counted, whatever their case."""
    for text in ["", "a", "the cat and the hat", "The cat and the hat"]:
        agree(
            student.word_counts(text),
            key.word_counts(text),
            hints={"upper and lower case are counted apart": lambda text=text: _with_case(text)},
            name=f"word_counts({text!r})",
        )


@number("1.1")
@weight(6)
@visibility("hidden")
def test_word_counts_of_random_texts(student, key, rng):
    """Random texts of many lengths are counted."""
    for length in [0, 1, *rng.integers(2, 60, size=8)]:
        text = " ".join(rng.choice(["a", "B", "b", "cat", "Cat", "\n"], size=length))
        agree(student.word_counts(text), key.word_counts(text))


def _with_case(text):
    words = text.split()
    return {word: words.count(word) for word in words}
