"""The sandbox: `outside` is the examiner's side, `inside` is shipped into the box and imports nothing of viva."""
