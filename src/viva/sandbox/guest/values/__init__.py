"""Values from the student's program as plain data, and what a call printed or raised."""
