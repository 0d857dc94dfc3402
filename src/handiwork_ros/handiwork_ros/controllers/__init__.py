"""The ROS side of the controllers: actions and topics in front of goal slots."""
