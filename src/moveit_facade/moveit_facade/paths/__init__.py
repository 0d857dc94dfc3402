"""Paths in Cartesian and joint space, without ROS."""
