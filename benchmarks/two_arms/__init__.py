"""Both arms of a robot at once."""
