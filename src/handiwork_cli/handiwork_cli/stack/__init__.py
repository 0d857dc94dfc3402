"""The whole stack, and the output of commands about it."""
