"""Mobile place: drive to where the place was planned, together with the motion of the arm there, and place."""

from __future__ import annotations

from dataclasses import dataclass

from handiwork_core.contracts.composite import CompositeSkill, Steps
from handiwork_core.contracts.skill import Context
from handiwork_core.model.outcome import Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.driving.search import PlacementSearch
from skill_server.params import checks
from skill_server.placing.params import PlaceParams
from skill_server.skills.pick_place.place import Place

from .mobile_steps import check_with_base, steps_with_base


@dataclass(frozen=True, slots=True, kw_only=True)
class MobilePlaceParams(PlaceParams):
    """Parameters of ``mobile_place``, beyond those of ``PlaceParams``.

    Attributes:
        search_time: Steady time for one search for a position of the base, s.
    """

    search_time: float = 10.0


class MobilePlace(CompositeSkill[MobilePlaceParams]):
    """Place the held object where the arm may not reach from where the base is."""

    name = "mobile_place"
    params_type = MobilePlaceParams
    object_fields = ("object", "container")

    def is_feasible(self, params: MobilePlaceParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        own = check_with_base(params, robot, world)
        return checks.all_faults((own, Place().is_feasible(params, robot, arm, world)))

    def steps(self, params: MobilePlaceParams, context: Context) -> Steps:
        """Choose position and release together, then drive and place, with the release chosen again from there."""
        search = PlacementSearch(Place(), params, params.search_time)
        yield from steps_with_base("place", search, params.container, context)

    def is_success(self, params: MobilePlaceParams, before: World, after: World, context: Context) -> Outcome:
        """Judge as Place does."""
        return Place().is_success(params, before, after, context)
