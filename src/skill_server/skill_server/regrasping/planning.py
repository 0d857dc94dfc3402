"""Plans how an object comes to its place: with one grasp, or with the fewest regrasps on free spots of its supports."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.scene.bounds import world_aabb
from skill_server.grasping.pick_params import PickParams
from skill_server.state.scene_query import supports

from .chains import Chain, shortest_chain
from .free_spots import Spot, free_spots
from .grasp_at import GraspAt
from .params import COMMON, MoveObjectParams
from .possibilities import PlannerPossibilities, StagesOf
from .stable_placements import stable_placements

LEVEL_M = 0.01
"""A body carries another one if its top is at most this much over the underside of that, m."""

SAME_SPOT_M, SAME_SPOT_RAD = 0.02, 0.2
"""A placement is not tried again where one that could not be reached differs by less."""


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """The next grasp, and where the object goes with it.

    Attributes:
        start: world_T_object when the search began.
        chain: The whole chain.
        possible: What was found possible.
    """

    start: Pose
    chain: Chain[Spot, GraspAt]
    possible: PlannerPossibilities

    @property
    def grasp(self) -> GraspAt:
        """The first grasp."""
        return self.chain.links[0][1]

    @property
    def put_down(self) -> Spot | None:
        """The placement to which the first grasp leads; None: the place itself."""
        return self.chain.links[1][0] if self.chain.regrasps else None


@dataclass(slots=True)
class Tried:
    """What did not succeed since the object was last let go, and is left out of the next search.

    Attributes:
        grasps: Keys of grasps that could not be taken, or with which the place could not be reached.
        spots: Placements that could not be reached, world_T_object.
        failures: How the steps ended that failed, in order, of the whole goal.
    """

    grasps: set[tuple[int, ...]] = field(default_factory=set)
    spots: list[Pose] = field(default_factory=list)
    failures: list[Outcome] = field(default_factory=list)

    def not_brought(self, grasp: tuple[int, ...], spot: Spot | None) -> None:
        """Note that an object could not be brought to a placement, and is still in the hand.

        Args:
            grasp: Key of the grasp with which it is held.
            spot: The placement; None: the place itself.
        """
        if spot is None:
            self.grasps.add(grasp)
        else:
            self.spots.append(spot.pose)

    def let_go(self) -> None:
        """Forget what did not succeed with the grasp that is over."""
        self.grasps.clear()
        self.spots.clear()

    def leaves_out(self, pose: Pose) -> bool:
        """Return True for a placement at one of ``spots``.

        Args:
            pose: world_T_object.
        """
        apart = (pose.distance_to(spot) for spot in self.spots)
        return any(off_m < SAME_SPOT_M and off_rad < SAME_SPOT_RAD for off_m, off_rad in apart)

    def cause_of(self, none: Outcome) -> Outcome:
        """Return the outcome of a search that finds nothing more: the last step that failed is its cause.

        Args:
            none: Outcome of the search.
        """
        if not self.failures:
            return none
        last = self.failures[-1]
        return replace(last, message=f"{last.message}; then {none.message}")


def pick_params(params: MoveObjectParams) -> PickParams:
    """Return the parameters of the picks of a goal.

    Args:
        params: Parameters of ``move_object``.
    """
    return PickParams(object=params.object, **{name: getattr(params, name) for name in COMMON})


def find_course(
    params: MoveObjectParams,
    stages_of: StagesOf,
    context: Context,
    most: int,
    tried: Tried,
) -> Course:
    """Find the shortest chain of grasps in the world as it is.

    Args:
        params: Parameters of ``move_object``; the object is known.
        stages_of: Makes the stages of each grasp.
        context: Context of the run; an object in the hand is recorded in it.
        most: The most regrasps.
        tried: What is left out, because it did not succeed before.

    Returns:
        The chain.

    Raises:
        StepFailed: NO_CANDIDATE or PLAN_BUDGET, with what was tried and what was in the way.
        Stopped: The token was set.
    """
    world, name = context.world.snapshot(), params.object
    start = Spot(world.states[name].world_T_object)
    possible = PlannerPossibilities(
        pick_params(params), params.placed(world), stages_of, context, params.search_time, tried.grasps
    )
    held = context.held.get(name)
    if held is not None:
        possible.hold(start, held)
    chain = shortest_chain(start, (), possible, 0)
    where = ""
    if chain is None and most > 0:
        spots, where = _spots(params, context, world, tried)
        chain = shortest_chain(start, spots, possible, most, lambda spot: spot.face)
    if chain is None:
        text = f"no grasp brings {name!r} to its place{where}; {possible.tally.words}"
        raise StepFailed(Outcome(Code.NO_CANDIDATE, text, "select", blocking=possible.tally.blocking))
    return Course(start.pose, chain, possible)


def carriers(world: World, name: str) -> tuple[str, ...]:
    """Return the fixtures that an object stands on, and those that carry these.

    Args:
        world: Snapshot of the world.
        name: The object.
    """
    found, above = list[str](), [name]
    while above:
        upper = above.pop()
        underside = float(world_aabb(world.objects[upper], world.states[upper].world_T_object)[0][2])
        for other in sorted(supports(world, upper)):
            body = world.objects[other]
            top = float(world_aabb(body, world.states[other].world_T_object)[1][2])
            if other not in (*found, name) and top <= underside + LEVEL_M:
                above.append(other)
                if body.is_static and body.articulation is None:
                    found.append(other)
    return tuple(found)


def supports_of(params: MoveObjectParams, world: World) -> tuple[str, ...]:
    """Return the names of what the object may be put down on.

    Args:
        params: Parameters of ``move_object``.
        world: Snapshot of the world.
    """
    if params.regrasp_on:
        return (params.regrasp_on,)
    found = (*carriers(world, params.object), *carriers(world, params.container))
    if world.objects[params.container].is_static and not found:
        found = (params.container,)
    return tuple(dict.fromkeys(found))


def _spots(
    params: MoveObjectParams, context: Context, world: World, tried: Tried
) -> tuple[tuple[Spot, ...], str]:
    """Return the placements on the way, and the words that say which they are."""
    name, on = params.object, supports_of(params, world)
    faces = stable_placements(world.objects[name])
    near = tuple(world.states[one].world_T_object.translation_m for one in (name, params.container))
    base = context.world.world_T_base().translation_m
    rng = np.random.default_rng(params.seed & (2**64 - 1))
    spots = free_spots(world, name, on, faces, near, base, rng)
    left = tuple(spot for spot in spots.placements if not tried.leaves_out(spot.pose))
    text = (
        f", nor do {len(left)} placements on {' and '.join(map(repr, on)) or 'nothing'} "
        f"({len(faces)} stable orientations, {spots.taken} drawn points not free)"
    )
    return left, text


def pose_error(params: MoveObjectParams, now: Pose) -> tuple[float, float]:
    """Return the distance [m] and the angle [rad] between an object and the nearest of the poses of the goal.

    Args:
        params: Parameters of ``move_object`` with ``object_poses``.
        now: world_T_object.
    """
    return min(pose.distance_to(now) for pose in params.object_poses)
