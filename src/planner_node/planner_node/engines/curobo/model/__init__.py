"""The robot and its surroundings in the form that cuRobo holds."""
