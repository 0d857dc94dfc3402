"""Motions of an arm that yields to the force on its tool: it searches, inserts, presses and wipes."""
