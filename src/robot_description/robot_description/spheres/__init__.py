"""Collision spheres that cover links."""
