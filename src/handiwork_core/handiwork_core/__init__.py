"""ROS-free values and contracts that every Handiwork package shares."""
