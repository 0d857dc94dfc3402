"""The values of requests, answers and errors, without ROS."""
