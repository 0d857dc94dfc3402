"""Recordings: MCAP files of all topics, as rosbag2 writes them. Writing and reading needs no ROS."""
