"""The kinds of joints, of robots as well as of drawers and knobs."""

from __future__ import annotations

from enum import IntEnum


class JointKind(IntEnum):
    """The kind of a joint.

    Numbers equal those in ``handiwork_msgs/msg/Articulation``; 0 means there that an object is no part of another one.
    """

    FIXED = 0
    PRISMATIC = 1
    REVOLUTE = 2

    @property
    def word(self) -> str:
        """The word for it in URDF and in scene files."""
        return self.name.lower()


MOVING = (JointKind.PRISMATIC, JointKind.REVOLUTE)
"""The kinds of the joints of parts."""
