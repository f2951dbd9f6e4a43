"""Many submissions: a pool of examiners on this machine."""
