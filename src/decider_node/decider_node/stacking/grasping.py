"""The approach to the active bin."""

from __future__ import annotations

import numpy as np

from decider_node.motion.approach import Approach
from decider_node.motion.command import MotionCommand
from handiwork_core.model.geometry import Pose, frozen

from .context import StackContext


def to_grasp(context: StackContext) -> MotionCommand:
    """Return a command along the cup's axis onto the bottom of the active bin, with the bin if that moves.

    Args:
        context: The logical state.

    Raises:
        RuntimeError: No bin is active.
    """
    if context.grasp is None or context.active is None:
        raise RuntimeError("no bin is active: dispatch may decide for pick_bin only with one")
    grasp = context.grasp
    away = grasp.world_T_tip.translation_m - context.tip.translation_m
    actions = context.site.actions
    funnel = actions.inside if grasp.from_inside else actions.outside
    length = min(funnel.length, float(np.linalg.norm(away)) + 0.02)
    # A little into the surface, so that the lip seals.
    goal = Pose.of(grasp.world_T_tip.translation_m + 0.0003 * grasp.axis, grasp.world_T_tip.rotation)
    return MotionCommand(
        goal,
        Approach.along(length * grasp.axis, funnel.deviation),
        posture=context.posture,
        world_v_target=frozen([*context.drift, 0.0, 0.0, 0.0]),
    )
