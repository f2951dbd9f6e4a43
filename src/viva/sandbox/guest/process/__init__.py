"""The processes of a box: the fork server, the box's first process, the student's process and its worker."""
