"""Robots of Handiwork and the node that publishes their model and frames."""
