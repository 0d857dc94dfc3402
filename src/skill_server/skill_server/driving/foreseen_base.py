"""The context of a run as it would be with the base elsewhere: the robot, what it holds, and the planner's scenes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from handiwork_core.contracts.planning import SceneQuery
from handiwork_core.contracts.ports import Planner
from handiwork_core.contracts.skill import Context
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import JointState, World
from handiwork_core.robot.kinematics import link_poses
from skill_server.motions.base_motion import base_of, root_pose
from skill_server.stages.foreseen import ForeseenWorld
from skill_server.stages.foreseen_planner import ForeseenPlanner
from skill_server.state.scene_query import objects_inside


@dataclass(frozen=True)
class PlannerElsewhere(ForeseenPlanner):
    """Asks a planner as if joints that the arm does not move, such as those of the base, were elsewhere.

    Attributes:
        planner: The planner.
        joints: Positions by name, m and rad, which each scene names instead of those that the planner measures.
    """

    planner: Planner
    joints: Mapping[str, float]

    @property
    def asked(self) -> Planner:
        """See ``ForeseenPlanner``."""
        return self.planner

    def foreseen(self, scene: SceneQuery) -> SceneQuery:
        """See ``ForeseenPlanner``.

        Args:
            scene: Scene of a request; the joints that it names have precedence.
        """
        named = {name for name, _ in scene.gripper_m}
        added = ((name, value) for name, value in self.joints.items() if name not in named)
        return replace(scene, gripper_m=(*scene.gripper_m, *added))


def context_at(context: Context, base: Array, arm: Array | None = None) -> Context:
    """Return the context that a run would have with the base elsewhere.

    Args:
        context: Context of the run, whose robot has a base.
        base: Position of the base: x, y [m] and yaw [rad], (3,).
        arm: Configuration of the arm there, (dof,), rad or m; None: the measured one.

    Returns:
        A context of its own, in whose world the robot is there, and what its arms hold, and what lies in that, has
        moved with the hands. Its ports must not be used to move anything.
    """
    world, root = context.world.snapshot(), root_pose(context, context.world.snapshot())
    moved = dict(zip(base_of(context.robot).joint_names, map(float, base), strict=True))
    positions = {**world.joints.position, **moved}
    if arm is not None:
        positions |= dict(zip(context.arm_spec.joint_names, map(float, arm), strict=True))
    there = replace(world, joints=JointState(world.joints.stamp_s, positions))
    there = _carried(context, world, there, root)
    link = context.arm_spec.base_link
    pose = root @ link_poses(context.robot, positions, (link,))[link]
    planner = PlannerElsewhere(context.planner, moved)
    return replace(
        context, planner=planner, world=ForeseenWorld(there, pose), held=dict(context.held), refused=[]
    )


def _carried(context: Context, here: World, there: World, root: Pose) -> World:
    """Move what all arms hold, and what lies in it, with the hands."""
    states = dict(here.states)
    before, after = (link_poses(context.robot, world.joints.position) for world in (here, there))
    for held, grip in {**context.held_by_others(), **context.held}.items():
        if held not in states:
            continue
        way = root @ after[grip.link] @ before[grip.link].inverse() @ root.inverse()
        for name in (held, *objects_inside(here, held)):
            if not here.objects[name].is_static:
                states[name] = replace(states[name], world_T_object=way @ here.states[name].world_T_object)
    return replace(there, states=states)
