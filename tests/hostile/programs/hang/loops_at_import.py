"""Never finishes loading."""

# slow
while True:
    pass
