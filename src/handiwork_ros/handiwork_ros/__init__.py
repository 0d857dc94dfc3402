"""The ROS edge that every Handiwork node shares: conversions, clock, clients, shutdown."""
