"""The ROS interface that every Handiwork node shares: conversions, clock, clients, shutdown."""
