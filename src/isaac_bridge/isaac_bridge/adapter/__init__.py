"""Converts between the topics of Isaac Sim's bridge and the robot-and-world contract."""
