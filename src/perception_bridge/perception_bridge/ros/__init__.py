"""The ROS side of the package."""
