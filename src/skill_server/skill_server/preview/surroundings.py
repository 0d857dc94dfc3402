"""What a preview asks the server while it runs: the other arms, and whether its own arm is at rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from handiwork_core.contracts.planning import OtherArm
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import OK, Outcome


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The server around a preview; the default is a robot of one arm that has no goal.

    Attributes:
        others: Returns the other arms of the robot, which count as obstacles where they are.
        at_rest: Returns OK while the arm has no goal that may move it; else BUSY with the goal's name.
        shares_planner: Returns True while an arm has a goal, which needs the planner as well.
        pose_frames: world_T_frame of each frame in which the goal gave poses; the parameters have them in the world.
    """

    others: Callable[[], tuple[OtherArm, ...]] = tuple
    at_rest: Callable[[], Outcome] = lambda: OK
    shares_planner: Callable[[], bool] = lambda: False
    pose_frames: Mapping[str, Pose] = field(default_factory=dict)


ALONE = Surroundings()
"""The surroundings of an arm that no server shares."""
