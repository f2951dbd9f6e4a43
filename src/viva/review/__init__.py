"""Written answers, marked by people: questions across a class, one after the other."""
