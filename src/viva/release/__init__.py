"""What students receive: released folders and autograder archives, without anything that only graders may know."""
