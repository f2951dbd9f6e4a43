"""The report about a class: one page and one table."""
