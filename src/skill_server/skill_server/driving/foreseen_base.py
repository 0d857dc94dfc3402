"""The context of a run as it would be with the base elsewhere: the robot, what it holds, and the planner's scenes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from handiwork_core.contracts.planning import (
    CandidatesRequest,
    CandidatesResult,
    PathRest,
    PlanRequest,
    PlanResult,
    SceneQuery,
    ShouldStop,
    Verdict,
)
from handiwork_core.contracts.ports import Planner
from handiwork_core.contracts.skill import Context
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import JointState, World
from handiwork_core.robot.kinematics import link_poses
from skill_server.motions.base_motion import base_of, root_pose
from skill_server.stages.foreseen import ForeseenWorld
from skill_server.state.scene_query import objects_inside


@dataclass(frozen=True)
class PlannerElsewhere:
    """Asks a planner as if joints that the arm does not move, such as those of the base, were elsewhere.

    Attributes:
        planner: The planner.
        joints: Positions by name, m and rad, which each scene names instead of those that the planner measures.
    """

    planner: Planner
    joints: Mapping[str, float]

    def plan(self, request: PlanRequest, *, should_stop: ShouldStop) -> PlanResult:
        """See ``Planner.plan``.

        Args:
            request: The planning problem.
            should_stop: True ends the request.
        """
        return self.planner.plan(replace(request, scene=self._there(request.scene)), should_stop=should_stop)

    def check_candidates(self, request: CandidatesRequest, *, should_stop: ShouldStop) -> CandidatesResult:
        """See ``Planner.check_candidates``.

        Args:
            request: The candidates.
            should_stop: True ends the request.
        """
        scenes = tuple(self._there(scene) for scene in request.scenes or (SceneQuery(),))
        return self.planner.check_candidates(replace(request, scenes=scenes), should_stop=should_stop)

    def validate(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, *, should_stop: ShouldStop
    ) -> Verdict:
        """See ``Planner.validate``; the robot is not there, so only the way is judged.

        Args:
            arm: Name of the arm.
            trajectory: Motion to judge.
            scene: The scene.
            should_stop: True ends the request.
        """
        return self.validate_rest(arm, trajectory, scene, PathRest(0.0), should_stop=should_stop)

    def validate_rest(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, rest: PathRest, *, should_stop: ShouldStop
    ) -> Verdict:
        """See ``Planner.validate_rest``.

        Args:
            arm: Name of the arm.
            trajectory: Motion to judge.
            scene: The scene.
            rest: The part of the motion.
            should_stop: True ends the request.
        """
        there = self._there(scene)
        return self.planner.validate_rest(arm, trajectory, there, rest, should_stop=should_stop)

    def _there(self, scene: SceneQuery) -> SceneQuery:
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
        A context of its own, in whose world the robot is there, and what the arm holds, and what lies in that, has
        moved with the hand. Its ports must not be used to move anything.
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
    """Move what the arm holds, and what lies in it, with the hand."""
    ee, states = context.arm_spec.ee_link, dict(here.states)
    before, after = (
        root @ link_poses(context.robot, world.joints.position, (ee,))[ee] for world in (here, there)
    )
    way = after @ before.inverse()
    held = {name for name in context.held if name in states}
    for name in held.union(*(objects_inside(here, one) for one in held)):
        if not here.objects[name].is_static:
            states[name] = replace(states[name], world_T_object=way @ states[name].world_T_object)
    return replace(there, states=states)
