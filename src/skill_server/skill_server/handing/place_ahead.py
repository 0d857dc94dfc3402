"""The place that follows a handover: can the other arm bring the object there with a grasp that it takes it by?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from handiwork_core.contracts.commands import AttachObject, CloseGripper
from handiwork_core.contracts.planning import (
    NO_Q,
    CandidatesRequest,
    CandidatesResult,
    OtherArm,
    ShouldStop,
)
from handiwork_core.contracts.skill import Context
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Outcome
from skill_server.placing.look_ahead import LookAhead
from skill_server.placing.params import PlaceParams
from skill_server.stages.foreseen import ForeseenWorld
from skill_server.state.scene_query import width_across

if TYPE_CHECKING:
    from handiwork_core.contracts.ports import Planner


@dataclass(frozen=True)
class _WithoutArm:
    """Judges candidates as if another arm were not there; all else is the planner's."""

    planner: Planner
    arm: str

    def check_candidates(self, request: CandidatesRequest, *, should_stop: ShouldStop) -> CandidatesResult:
        """See ``Planner.check_candidates``."""
        gone = OtherArm(self.arm, NO_Q)
        scenes = tuple(replace(scene, others=(*scene.others, gone)) for scene in request.scenes)
        return self.planner.check_candidates(replace(request, scenes=scenes), should_stop=should_stop)

    def __getattr__(self, name: str) -> object:
        return getattr(self.planner, name)


class PlaceAhead:
    """Judges the grasps of one place to meet by the place that follows.

    Args:
        place: The place.
        name: The object.
        giver: Name of the arm that gives.
        taker: Context of the arm that takes.
        world_T_object: Pose of the object where the arms meet.
        budget_s: Steady time for all grasps, s.
    """

    def __init__(
        self,
        place: PlaceParams,
        name: str,
        giver: str,
        taker: Context,
        world_T_object: Pose,
        budget_s: float,
    ) -> None:
        self._name, self._taker, self._at = name, taker, world_T_object
        world = taker.world.snapshot()
        states = {**world.states, name: replace(world.states[name], world_T_object=world_T_object)}
        source = ForeseenWorld(replace(world, states=states), taker.world.world_T_base())
        planner: Planner = _WithoutArm(taker.planner, giver)  # type: ignore[assignment]
        self._look = LookAhead(place, name, replace(taker, world=source, planner=planner), budget_s)

    def refusals(self, grasps: Mapping[int, tuple[Pose, Array]]) -> dict[int, Outcome]:
        """Return why the object cannot be placed, for each grasp.

        Args:
            grasps: By any number the grasp, object_T_ee, and the configuration of the arm at it, (dof,), rad or m.

        Returns:
            For each number OK, or the cause; a closer look comes where all grasps are refused.

        Raises:
            StepFailed: The planner failed, or the place contradicts itself.
            Stopped: The token was set.
        """
        stages = {key: self._stages(*grasp) for key, grasp in grasps.items()}
        while True:
            found = {key: self._look.refusal(one) for key, one in stages.items()}
            if any(one.ok for one in found.values()) or not self._look.look_closer():
                return found

    def _stages(self, grasp: Pose, q: Array) -> tuple[SkillStage, ...]:
        gripper, at = self._taker.arm_spec.gripper, self._at @ grasp
        assert gripper is not None
        # The width does not depend on where the object is, only on how the hand holds it.
        measured = self._taker.world.snapshot()
        world_T_ee = measured.states[self._name].world_T_object @ grasp
        holds_m = width_across(measured, self._name, world_T_ee, gripper)
        functions = (CloseGripper(), AttachObject(self._name))
        return (SkillStage("grasp", at, functions=functions, holds_m=holds_m, q=q),)
