"""The autograder for Gradescope: the zip that is uploaded (`package`), and what runs there (`run`)."""
