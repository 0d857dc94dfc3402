"""The robot and its surroundings as the kernels need them."""
