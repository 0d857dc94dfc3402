"""Following of targets: whether an object that a motion leads to has moved, and where to meet one that moves evenly."""
