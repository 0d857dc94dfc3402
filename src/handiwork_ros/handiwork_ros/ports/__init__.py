"""Implementations of the ports of handiwork_core over ROS."""
