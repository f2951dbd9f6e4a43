"""viva's own plugins. The core imports none of them; `viva.hooks` finds them by their names."""
