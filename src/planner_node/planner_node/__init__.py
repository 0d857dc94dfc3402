"""Motion planning service of Handiwork with exchangeable engines."""
