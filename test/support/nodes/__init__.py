"""Nodes and peers for tests over ROS; some are processes of their own."""
