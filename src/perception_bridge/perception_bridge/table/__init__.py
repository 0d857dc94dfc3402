"""The table that says what labels mean and where detections come from."""
