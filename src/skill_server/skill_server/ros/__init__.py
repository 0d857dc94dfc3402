"""The ROS 2 side of the skill server: actions, admission of goals, and the encoding of their results."""
