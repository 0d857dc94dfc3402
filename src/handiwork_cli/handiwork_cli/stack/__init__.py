"""The whole stack, and what commands show of it."""
