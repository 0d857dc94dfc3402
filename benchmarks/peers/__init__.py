"""Other planners, each in an environment and a process of its own. Optional: an absent one is named as absent.

Scripts that run in a peer's environment import nothing of Handiwork, only ``job`` and the peer.
"""
