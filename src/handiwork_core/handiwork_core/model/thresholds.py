"""Limits below which something is at rest, and below which two configurations, or two places, are the same.

They differ on purpose, since they are compared with different things: measured speeds are noisy, planned ones are not,
and an object that was just placed may still swing. Noise limits of single algorithms stay with these algorithms, and so
do those of compiled kernels, whose caches know their own file only.
"""

from __future__ import annotations

import math

JOINT_REST = 0.01
"""Measured speed of a joint at rest, rad/s or m/s: above the noise of encoders, far below any commanded motion."""
OTHER_ARM_REST = 0.02
"""Measured speed of a joint of another arm at rest, rad/s or m/s: the base may drive while that arm still settles."""
ARM_MOVES_RAD_S = 0.05
"""Measured joint speed above which an arm moves, rad/s: a fault needs a clear motion, so it is five times
``JOINT_REST``."""
PATH_END_REST = 1e-3
"""Planned joint speed at the ends of a path that counts as rest, rad/s or m/s: a planner can make it exact."""
REST_TIME_S = 0.05
"""Time for which joints must be slow until an arm is at rest, s: an arm that swings out has moments without speed."""

OBJECT_REST = 0.02
"""Speed of an object at rest, m/s or rad/s: above the noise of simulated contacts."""
PLACED_REST_MPS = 0.05
"""Speed of a placed object at rest, m/s: it may still swing in its place."""
BELT_REST_MPS = 0.005
"""Speed below which an object on a belt does not travel, m/s: its time of arrival could not be computed."""

SAME_REFUSED_RAD = 1e-3
"""A configuration this near to one that was refused is refused as well, rad or m."""
SAME_PLACE_RAD = 0.005
"""Samples of a path this near to the measured arm are equally likely to be its position, rad or m."""
SAME_WAYPOINT_RAD = 1e-6
"""Way points nearer than this to the one before are left out, rad or m: no motion lies between them."""
SAME_START_RAD = 0.002
"""A motion that was planned earlier begins this near to the measured arm, rad or m: above the error of a controller at
rest, and far below what the planner's validation takes for a start."""
SAME_OBJECT_M = 0.005
"""An object that moved farther than this is not where a motion was planned for it, m: above the noise of a camera."""
SAME_OBJECT_RAD = math.radians(2.0)
"""The same for turning, rad."""
SAME_OPENING_M = 0.005
"""Two openings of a gripper this near to each other are the same, m."""
