"""Carrying one object with two hands: grasps for both, the closed chain, and the motion of both arms in one."""
