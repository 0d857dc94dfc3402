"""The graph of Isaac Sim's ROS 2 bridge as data, and the documented inputs and outputs of its nodes."""
