"""Runs in Isaac Sim's Python: opens an exported stage, builds the bridge's graph, and serves what the graph cannot.

Only Isaac Sim, the standard messages of ROS, numpy and Handiwork's pure parts are needed there.
"""
