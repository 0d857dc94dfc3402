"""Commands that show a running stack or a robot."""
