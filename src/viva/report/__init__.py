"""What a class did, for those who teach it, and what each student may read: pages, a table, pairs that look alike.

The room knows no database: it is given submissions with their scores, and returns bytes.
"""
