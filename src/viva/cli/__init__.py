"""The commands: one thin file each; all work happens in the rooms below."""
