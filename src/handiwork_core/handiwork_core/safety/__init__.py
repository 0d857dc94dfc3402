"""The safety layer: limits, supervision of every command, controlled stops, and the states between them. No ROS."""
