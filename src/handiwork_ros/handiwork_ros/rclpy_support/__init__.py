"""Additions to rclpy: quality of service, executor, calls, callbacks that cannot end a node."""
