"""Commands that send goals."""
