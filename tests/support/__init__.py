"""What several test files use: courses, submissions, servers, machines and ways to look at them."""
