"""The decider network: no robot, no ROS, no clock of its own."""
