"""The safety layer as a process between any client and the controllers of ros2_control."""
