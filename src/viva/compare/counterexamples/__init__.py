"""The search for arguments on which two functions disagree."""
