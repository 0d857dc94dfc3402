"""Skills that move the arm or the gripper alone."""
