"""The ROS side of the simulated cameras."""
