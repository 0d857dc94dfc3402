"""Launch files, configuration and the handiwork command."""
