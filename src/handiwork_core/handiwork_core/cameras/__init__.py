"""Cameras: where they are, what they see, and how they are written in robot and scene files."""
