"""The cell and its markers over ROS."""
