"""Where a camera is, by images of a board and the poses of the hand (hand-eye calibration). No ROS."""
