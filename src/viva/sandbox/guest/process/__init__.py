"""The processes of a box: the fork server, the box's first process, and the student's process with its worker."""
