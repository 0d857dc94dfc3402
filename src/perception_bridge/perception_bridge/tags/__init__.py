"""AprilTags in images, and the poses of the objects that carry them. No ROS."""
