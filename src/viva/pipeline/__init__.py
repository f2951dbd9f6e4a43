"""Many submissions: a pool of examiners on this machine, or the workers of a cluster."""
