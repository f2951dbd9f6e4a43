"""The pages of `viva review`, and who may see them."""
