"""Isaac Sim behind the interfaces of the robot and the world."""
