"""The robot and its surroundings as cuRobo holds them."""
