"""Drawers, doors and knobs: grasps of their handles and motions of their parts."""
