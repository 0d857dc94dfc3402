"""What commands do by ROS: goals, calls of services, and evaluations in the running stack."""
