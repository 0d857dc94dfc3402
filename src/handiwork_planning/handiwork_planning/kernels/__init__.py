"""Compiled kernels: vector arithmetic, kinematics, random numbers, arrays."""
