# %% [markdown]
# # TITLE
#
# Replace these examples with your own questions. A heading with a number begins a question. Students get this notebook
# without the solutions.

# %%
import random

import numpy as np

# %% [markdown]
# ## 1 A function (3 points)
#
# Call it with arguments like those that tests are to use.

# %%
def one_hot(labels, n_classes):
    """Rows of zeros with a one at each label."""
    ### BEGIN SOLUTION
    rows = np.zeros((len(labels), n_classes))
    rows[np.arange(len(labels)), labels] = 1
    return rows
    ### END SOLUTION

# %%
one_hot(np.array([0, 2, 1]), 3)

# %% [markdown]
# ## 2 A class (3 points)

# %%
class Vocabulary:
    """Numbers for words, in the order in which they come."""

    def __init__(self):
        ### BEGIN SOLUTION
        self.numbers = {}
        ### END SOLUTION

    def number_of(self, word):
        """The number of a word; a new word gets the next one."""
        ### BEGIN SOLUTION
        return self.numbers.setdefault(word, len(self.numbers))
        ### END SOLUTION

# %%
vocabulary = Vocabulary()
vocabulary.number_of("the"), vocabulary.number_of("cat"), vocabulary.number_of("the")

# %% [markdown]
# ## 3 A function that prints (1 point)

# %%
def show(words):
    """Print each word with its length."""
    ### BEGIN SOLUTION
    for word in words:
        print(word, len(word))
    ### END SOLUTION

# %%
show(["the", "cat", "sat"])

# %% [markdown]
# ## 4 A function that draws at random (2 points)

# %%
def drawn(words):
    """One of the words, each as likely as the others."""
    ### BEGIN SOLUTION
    return random.choice(words)
    ### END SOLUTION

# %%
drawn(["the", "cat", "sat"])

# %% [markdown]
# ## 5 A value (1 point)
#
# How many parameters does a linear layer from 4 to 3 have, with biases?

# %%
n_parameters = 4 * 3 + 3  # SOLUTION

# %% [markdown]
# ## 6 An answer in words (2 points)
#
# Why does a network get one-hot vectors, and not the numbers of the words?

# %% [markdown]
# <!-- BEGIN SOLUTION -->
# Numbers have an order and a distance, which words do not have.
# <!-- END SOLUTION -->
