"""The context of a run as it will be after stages that have not been done yet: the arm, the hand, what it has moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from handiwork_core.contracts.commands import AttachObject, CloseGripper, DetachObject, OpenGripper
from handiwork_core.contracts.planning import Attachment
from handiwork_core.contracts.skill import Context
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import JointState, World
from skill_server.motions.arm_motions import hand
from skill_server.state.gripper_state import arm_q
from skill_server.state.scene_query import gripper_joints, objects_inside


@dataclass(frozen=True)
class ForeseenWorld:
    """A world source with one snapshot that lies ahead.

    Attributes:
        world: The snapshot.
        base: Pose of the arm's base in the world.
    """

    world: World
    base: Pose

    def snapshot(self) -> World:
        """See ``WorldSource``."""
        return self.world

    def world_T_base(self) -> Pose:
        """See ``WorldSource``."""
        return self.base


class _Ahead:
    """The arm and its hand, stage by stage."""

    def __init__(self, context: Context, world: World) -> None:
        self._context, self.world = context, world
        self.q: Array = arm_q(world, context.arm_spec)
        self.world_T_ee = hand(context, world)
        self.width_m: float | None = None
        self.held = dict[str, Attachment](context.held)
        self._carried = dict[str, tuple[str, Pose]]()
        """Poses in the EE frame by the names of all that moves with the hand, with the object that carries each."""
        for name in self.held:
            self._take(name)

    def go(self, stage: SkillStage) -> None:
        """Do a stage."""
        if stage.q is not None and stage.world_T_ee is not None:
            self.q, self.world_T_ee = stage.q, stage.world_T_ee
            self._carry()
        gripper = self._context.arm_spec.gripper
        for function in stage.functions:
            match function:
                case OpenGripper(width_m) if gripper is not None:
                    self.width_m = gripper.max_width_m if width_m is None else width_m
                case CloseGripper() if stage.holds_m is not None:
                    self.width_m = stage.holds_m
                case AttachObject(name):
                    ee_T_object = self.world_T_ee.inverse() @ self.world.states[name].world_T_object
                    self.held[name] = Attachment(name, self._context.arm_spec.ee_link, ee_T_object)
                    self._take(name)
                case DetachObject(name):
                    self.held.pop(name, None)
                    self._carried = {one: by for one, by in self._carried.items() if by[0] != name}

    def _take(self, name: str) -> None:
        if name not in self.world.states:
            return
        ee_T_world = self.world_T_ee.inverse()
        for one in (name, *objects_inside(self.world, name)):
            if not self.world.objects[one].is_static:
                self._carried[one] = name, ee_T_world @ self.world.states[one].world_T_object

    def _carry(self) -> None:
        states = dict(self.world.states)
        for name, (_, ee_T_object) in self._carried.items():
            states[name] = replace(states[name], world_T_object=self.world_T_ee @ ee_T_object)
        self.world = replace(self.world, states=states)


def context_after(stages: Sequence[SkillStage], context: Context) -> Context:
    """Return the context that a run will have when it begins after stages.

    Args:
        stages: Stages in order, each pose with its configuration, as ``choose_stages`` returns them.
        context: Context of the run that is to do the stages.

    Returns:
        A context of its own, in whose world the arm is at the last pose, what it holds has moved with the hand, and the
        fingers are as open as the stages leave them. All else is as measured now.
    """
    ahead = _Ahead(context, context.world.snapshot())
    for stage in stages:
        ahead.go(stage)
    arm, joints = context.arm_spec, ahead.world.joints
    position = {**joints.position, **dict(zip(arm.joint_names, map(float, ahead.q), strict=True))}
    if arm.gripper is not None and ahead.width_m is not None:
        position |= dict(gripper_joints(context.robot, arm.gripper, ahead.width_m))
    world = replace(ahead.world, joints=JointState(joints.stamp_s, position))
    source = ForeseenWorld(world, context.world.world_T_base())
    return replace(context, world=source, held=ahead.held, refused=[])
