"""MuJoCo behind the robot-and-world contract of Handiwork."""
