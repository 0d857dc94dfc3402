"""The CPU engine, one file per idea.

Numba kernels (kinematics, distances, collision, edges, ik, straight, tree_search,
shortcut), and plain Python around them (robot_model, covering, scene, query, timing, referee, free_motion, candidates).
"""
