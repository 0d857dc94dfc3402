"""The ports of handiwork_core over ROS."""
