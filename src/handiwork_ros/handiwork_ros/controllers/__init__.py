"""The ROS interfaces of the controllers: actions and topics that give goals to goal slots."""
