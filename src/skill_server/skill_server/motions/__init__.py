"""Motions of arms, bases and conveyor belts, and the choice among candidates."""
