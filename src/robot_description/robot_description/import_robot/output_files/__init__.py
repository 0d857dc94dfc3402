"""The files of a new robot's folder: description, spheres, URDF and a first scene."""
