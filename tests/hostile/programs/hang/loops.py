"""Never comes back: a loop in a call, in a constructor and in a property."""


def table(words):
    while True:
        pass


class Model:
    def __init__(self, size):
        self.x = size

    @property
    def size(self):
        while True:
            self.x += 1
