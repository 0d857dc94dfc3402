"""Pick and Place as ROS 2 actions."""
