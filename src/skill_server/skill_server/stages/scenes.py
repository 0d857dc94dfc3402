"""Scenes in which the planner judges the waypoints of stages, before anything moves."""

from __future__ import annotations

from collections.abc import Sequence

from handiwork_core.contracts.commands import AttachObject, DetachObject, Function, OpenGripper
from handiwork_core.contracts.planning import Attachment, SceneQuery
from handiwork_core.contracts.skill import Context
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.world import World
from skill_server.motions.arm_motions import no_obstacles
from skill_server.params.protocol import RunParams
from skill_server.state.scene_query import gripper_joints, measured_gripper_joints, touch_pairs


class _Foreseen:
    """The hand as it will be at a stage: its opening, what it holds, and what it has moved."""

    def __init__(self, context: Context, world: World) -> None:
        self._context = context
        self.gripper_m = measured_gripper_joints(world, context.robot, context.arm_spec.gripper)
        self.held = dict[str, Attachment | None](context.held)
        self.moved = frozenset[str]()

    def attached(self) -> tuple[Attachment, ...]:
        """Return the objects that are in the hand since before the first stage."""
        return tuple(item for item in self.held.values() if item is not None)

    def do(self, function: Function) -> None:
        """Take the effect of a function. A closing hand stops at what it holds, so the fingers count as before."""
        gripper = self._context.arm_spec.gripper
        match function:
            case OpenGripper(width_m) if gripper is not None:
                wanted_m = gripper.max_width_m if width_m is None else width_m
                self.gripper_m = gripper_joints(self._context.robot, gripper, wanted_m)
            case AttachObject(name):
                self.held[name] = None
                self.moved |= {name}
            case DetachObject(name):
                self.held.pop(name, None)
                self.moved |= {name}


def stage_scenes(
    stages: Sequence[SkillStage], params: RunParams, context: Context, world: World
) -> tuple[SceneQuery, ...]:
    """Return the scene of each waypoint with a pose.

    Args:
        stages: The stages, in order.
        params: Parameters with the objects to ignore.
        context: Context of the run, with what the hand holds now.
        world: Snapshot of the world.

    Returns:
        One scene for each stage with a pose, in order.
    """
    foreseen, found = _Foreseen(context, world), list[SceneQuery]()
    always = no_obstacles(params.ignore_substring, context, world)
    for stage in stages:
        if stage.world_T_ee is not None:
            ignored = always | stage.ignored | foreseen.moved
            # The free way to the first pose is not judged here, so what it leaves is clear of the pose itself.
            touching = stage.touching | stage.leaving if found else stage.touching
            pairs = touch_pairs(context.robot, context.arm_spec, foreseen.held, touching)
            allowed = frozenset(pair for pair in pairs if not {pair.a, pair.b} & foreseen.moved)
            found.append(SceneQuery(ignored, foreseen.attached(), allowed, foreseen.gripper_m))
        for function in stage.functions:
            foreseen.do(function)
    return tuple(found)
