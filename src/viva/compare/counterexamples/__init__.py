"""Search for arguments on which two functions disagree."""
