"""The graph of Isaac Sim's ROS 2 bridge as data, and what is documented of its nodes."""
