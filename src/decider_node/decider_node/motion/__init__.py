"""Motion commands, and the controller that follows them."""
