"""Episodes without ROS: tasks in a simulation in lock-step, written as data sets."""
