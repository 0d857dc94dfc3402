"""Bundles: what the flight recorder leaves of a goal that did not succeed. Reading one needs no ROS."""
