"""The commands of this plugin; `viva.hooks` names them."""
