"""The transforms that a robot publishes."""
