"""Decider networks, reactive motion, and the applications that are made of them."""
