"""Ports that move nothing: arm, hand and objects as a run would leave them, and a planner that is asked about them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from handiwork_core.contracts.planning import (
    Attachment,
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
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import OK, Outcome
from handiwork_core.model.suction import SuctionState
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import Contact, JointState, World
from skill_server.coordination.coordinated_ports import SHARED_BUDGET_S
from skill_server.motions.arm_motions import hand
from skill_server.state.gripper_state import finger_bodies, is_lost, width_m
from skill_server.state.scene_query import gripper_joints, objects_inside, width_across

from .surroundings import Surroundings

ZERO = np.zeros(3)


class RehearsedCell:
    """Arm, gripper, world and clock of a rehearsal. Motions end at once and exactly; what is held moves with the hand.

    Args:
        context: Context of the run that is rehearsed; it is only read.

    Attributes:
        held: What the hand holds; the rehearsal's ``Context.held``.
        grasped: Object on which the hand closes next; empty: on nothing.
        measured: Snapshot with which the rehearsal began.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self.held, self.grasped = dict[str, Attachment](), ""
        self._now_s = context.clock.now_s()
        self.begin()

    def begin(self) -> None:
        """Begin again, in the world as it is measured now; the time of the rehearsal goes on."""
        self._base = self._context.world.world_T_base()
        self.measured = self._world = self._context.world.snapshot()
        self._motions, self._moved = list[Trajectory](), set[str]()
        robot, arm = self._context.robot, self._context.arm_spec
        self.held.clear()
        for name in tuple(self._context.held):
            item = self._context.held.get(name)  # None: a goal has put it down since
            if item is not None and not is_lost(self.measured, robot, arm, name):
                self.held[name] = item

    def stand_still(self) -> None:
        """Have all objects at rest from now on: a rehearsal foresees no motion of theirs, and waits for none."""
        resting = {
            name: replace(state, world_v_object=ZERO, world_w_object=ZERO)
            for name, state in self._world.states.items()
        }
        self._world = replace(self._world, states=resting)

    def take_motions(self) -> tuple[Trajectory, ...]:
        """Return the motions since the last call, in order."""
        made, self._motions = tuple(self._motions), []
        return made

    def let_go(self) -> frozenset[str]:
        """Return the objects that the hand has left elsewhere than where they are measured."""
        return frozenset(self._moved) - self._carried()

    def now_s(self) -> float:
        """See ``Clock``."""
        return self._now_s

    def sleep(self, seconds: float, *, should_stop: ShouldStop) -> None:
        """See ``Clock``; no time passes but that of the rehearsal.

        Args:
            seconds: Duration, s.
            should_stop: Not used: it takes no time.
        """
        self._now_s += seconds

    def world_T_base(self) -> Pose:
        """See ``WorldSource``."""
        return self._base

    def snapshot(self) -> World:
        """See ``WorldSource``; all is measured now, and at rest."""
        now_s = self._now_s
        joints = JointState(now_s, self._world.joints.position)
        return replace(self._world, stamp_s=now_s, contacts_stamp_s=now_s, joints=joints)

    def follow(self, trajectory: Trajectory, *, should_stop: ShouldStop) -> Outcome:
        """Note a motion, and be at its end; see ``Arm``.

        Args:
            trajectory: The motion.
            should_stop: Not used: it takes no time.
        """
        self._motions.append(trajectory)
        self._now_s += trajectory.duration_s
        before = hand(self._rehearsed(), self._world)
        ends = zip(trajectory.joint_names, trajectory.q[-1].tolist(), strict=True)
        self._set_joints(dict(ends))
        self._carry(hand(self._rehearsed(), self._world) @ before.inverse())
        return OK

    def stop(self) -> Outcome:
        """See ``Arm``."""
        return OK

    def move(self, width_m: float, *, force_n: float = 0.0, should_stop: ShouldStop) -> Outcome:
        """See ``Gripper``; a closing hand stops at ``grasped``, and an opening one leaves what it holds where it is.

        Args:
            width_m: Opening between the pads, m.
            force_n: Not used: it changes no motion.
            should_stop: Not used: it takes no time.
        """
        gripper = self._context.arm_spec.gripper
        assert gripper is not None
        closes = width_m <= gripper.min_width_m
        name = self.grasped if closes and self.grasped in self._world.states else ""
        if gripper.suction is not None:
            cup = SuctionState(self._now_s, closes, bool(name), name)
            self._world = replace(self._world, suction={**self._world.suction, gripper.name: cup})
            return OK
        if name:
            world_T_ee = hand(self._rehearsed(), self._world)
            across_m = width_across(self._world, name, world_T_ee, gripper)
            width_m = min(across_m, _opening_m(self._world, self._context))
        self._set_joints(dict(gripper_joints(self._context.robot, gripper, width_m)))
        if self._world.contacts is not None:
            fingers = finger_bodies(self._context.robot, gripper)
            others = tuple(one for one in self._world.contacts if not {one.a, one.b} & set(fingers))
            touched = tuple(Contact(finger, name, ZERO, ZERO) for finger in fingers if name)
            self._world = replace(self._world, contacts=(*others, *touched))
        return OK

    def _rehearsed(self) -> Context:
        return replace(self._context, world=self)

    def _set_joints(self, positions: dict[str, float]) -> None:
        joints = self._world.joints
        self._world = replace(self._world, joints=replace(joints, position={**joints.position, **positions}))

    def _carried(self) -> frozenset[str]:
        held = [name for name in self.held if name in self._world.states]
        return frozenset(held).union(*(objects_inside(self._world, name) for name in held))

    def _carry(self, motion: Pose) -> None:
        states = dict(self._world.states)
        for name in self._carried():
            if not self._world.objects[name].is_static:
                states[name] = replace(states[name], world_T_object=motion @ states[name].world_T_object)
                self._moved.add(name)
        self._world = replace(self._world, states=states)


def _opening_m(world: World, context: Context) -> float:
    gripper = context.arm_spec.gripper
    assert gripper is not None
    measured_m = width_m(world, gripper)
    return measured_m if np.isfinite(measured_m) else gripper.max_width_m


@dataclass(frozen=True)
class RehearsedPlanner:
    """Asks ``planner`` about motions that begin where a rehearsal is.

    What the rehearsal has let go is no obstacle for the motions behind, since the planner knows it elsewhere.

    Attributes:
        planner: Planner port.
        cell: The rehearsal.
        around: The server around the preview, with the other arms.
    """

    planner: Planner
    cell: RehearsedCell
    around: Surroundings

    def plan(self, request: PlanRequest, *, should_stop: ShouldStop) -> PlanResult:
        """See ``Planner.plan``.

        Args:
            request: Request from where the rehearsal is.
            should_stop: True ends the request.
        """
        budget_s = request.budget_s
        if (
            self.around.shares_planner()
        ):  # the motions of a running arm are planned one after the other with these
            budget_s = min(budget_s, SHARED_BUDGET_S)
        foreseen = replace(request, scene=self._foreseen(request.scene), budget_s=budget_s)
        return self.planner.plan(foreseen, should_stop=should_stop)

    def check_candidates(self, request: CandidatesRequest, *, should_stop: ShouldStop) -> CandidatesResult:
        """See ``Planner.check_candidates``.

        Args:
            request: Request from where the rehearsal is.
            should_stop: True ends the request.
        """
        scenes = tuple(self._foreseen(scene) for scene in request.scenes or (SceneQuery(),))
        return self.planner.check_candidates(replace(request, scenes=scenes), should_stop=should_stop)

    def validate(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, *, should_stop: ShouldStop
    ) -> Verdict:
        """See ``Planner.validate``; the arm is not where the motion begins, so only the way is judged.

        Args:
            arm: Name of the arm.
            trajectory: Motion to judge.
            scene: Scene of the rehearsal.
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
            scene: Scene of the rehearsal.
            rest: Part of the motion.
            should_stop: True ends the request.
        """
        foreseen = self._foreseen(scene)
        return self.planner.validate_rest(arm, trajectory, foreseen, rest, should_stop=should_stop)

    def _foreseen(self, scene: SceneQuery) -> SceneQuery:
        gone = self.cell.let_go()
        allowed = frozenset(pair for pair in scene.allowed if not gone & set(pair))
        return replace(scene, ignored=scene.ignored | gone, allowed=allowed, others=self.around.others())
