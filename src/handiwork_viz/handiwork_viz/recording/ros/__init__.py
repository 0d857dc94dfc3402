"""The recorder's connection with ROS."""
