"""The examiner's side of the box: start a fork server, keep boxes ready, ask them, end them."""
