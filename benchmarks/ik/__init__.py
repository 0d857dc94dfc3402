"""Inverse kinematics of several arms, beside analytic solvers."""
