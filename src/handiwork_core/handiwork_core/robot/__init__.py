"""Robots: kinematic trees, limits, meshes and kinematics."""
