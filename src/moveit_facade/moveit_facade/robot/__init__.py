"""Planning groups, the SRDF and the kinematics of a chain, without ROS."""
