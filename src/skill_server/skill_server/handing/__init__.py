"""Handing an object from one arm to another: where the arms meet, and what each of them does there."""
