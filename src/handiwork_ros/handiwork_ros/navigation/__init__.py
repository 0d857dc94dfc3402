"""The port of a navigation server, such as nav2, that drives a mobile base."""
