"""The sandbox: `host` is the examiner's side, `guest` runs in the box and imports nothing of viva."""
