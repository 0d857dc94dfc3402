"""Mobile pick: drive to where the pick was planned, together with the motion of the arm there, and pick."""

from __future__ import annotations

from dataclasses import dataclass

from handiwork_core.contracts.composite import CompositeSkill, Steps
from handiwork_core.contracts.skill import Context
from handiwork_core.model.outcome import Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.driving.search import PlacementSearch
from skill_server.grasping.pick_params import PickParams
from skill_server.params import checks
from skill_server.skills.pick_place.pick import Pick

from .mobile_steps import check_with_base, steps_with_base


@dataclass(frozen=True, slots=True, kw_only=True)
class MobilePickParams(PickParams):
    """Parameters of ``mobile_pick``, beyond those of ``PickParams``.

    Attributes:
        search_time: Steady time for one search for a position of the base, s.
    """

    search_time: float = 10.0


class MobilePick(CompositeSkill[MobilePickParams]):
    """Pick an object that may be out of reach of where the base is."""

    name = "mobile_pick"
    params_type = MobilePickParams

    def is_feasible(self, params: MobilePickParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        own = check_with_base(params, robot, world)
        return checks.all_faults((own, Pick().is_feasible(params, robot, arm, world)))

    def steps(self, params: MobilePickParams, context: Context) -> Steps:
        """Choose position and grasp together, then drive and pick; the grasp is chosen again from where the base is."""
        search = PlacementSearch(Pick(), params, params.search_time)
        yield from steps_with_base("pick", search, params.object, context)

    def is_success(self, params: MobilePickParams, before: World, after: World, context: Context) -> Outcome:
        """Judge as Pick does."""
        return Pick().is_success(params, before, after, context)
