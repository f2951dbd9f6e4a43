"""The examiner's side of a box: start a fork server, keep boxes ready, send them requests, end them."""
