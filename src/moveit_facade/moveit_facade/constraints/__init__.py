"""Constraints of goals and paths, and their translation into goals of the planner, without ROS."""
