"""Detections become objects with a pose, a covariance and an age."""
