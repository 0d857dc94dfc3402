"""Skills in physics, and what their choices and their supervision cost."""
