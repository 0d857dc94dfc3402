"""The control loop of a policy, without clock and without ROS."""
