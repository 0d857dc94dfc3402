"""Random faults against a running stack, and the check of its reports against measurements; ``handiwork chaos``."""
