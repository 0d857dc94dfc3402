"""What the server derives from measurements: the gripper, limits of motion, deadlines."""
