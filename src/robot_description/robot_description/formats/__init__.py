"""Robot files of other tools."""
