"""Where a mobile base drives so that an arm can do something there, and on which way. No ROS, nothing moves."""
