"""The robot that carries cameras and objects, at any recent time."""
