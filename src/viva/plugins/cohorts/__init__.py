"""Who is in a class and what they get: grades from scores, files of learning platforms, and their interfaces."""
