"""The page itself, by viser."""
