"""Between Isaac Sim's bridge and the robot-and-world contract: what comes by the wire, and what is to go."""
