"""Simulated cells without ROS."""
