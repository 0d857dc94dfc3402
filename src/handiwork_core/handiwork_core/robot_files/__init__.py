"""Robot files: robot.yaml, spheres, bases, suction cups, and the SimBox format."""
