"""The commands, one small file each; the packages below do the work."""
