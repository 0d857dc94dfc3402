"""Reads XML launch files where ros2 launch is not installed."""
