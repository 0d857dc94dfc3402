"""The world in MuJoCo."""
