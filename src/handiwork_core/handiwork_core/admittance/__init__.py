"""Admittance control of an arm: it yields to the measured wrench on its tool. The law is that of ros2_control."""
