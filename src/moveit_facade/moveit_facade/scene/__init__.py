"""The planning scene as clients of MoveIt see it, without ROS."""
