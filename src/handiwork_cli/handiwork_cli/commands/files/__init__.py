"""Commands that write files."""
