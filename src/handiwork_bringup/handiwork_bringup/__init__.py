"""Launch files and configuration."""
