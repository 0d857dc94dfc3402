"""Release candidates whose height follows from the held object and from what carries it at each point."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from handiwork_core.contracts.skill import StepFailed
from handiwork_core.model.geometry import Array, Rotation
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World

from .candidates import PlaceSetting, Releases, container_part
from .params import PlaceParams
from .support import Rest, Surroundings

RIM_DROP_M = 0.2
"""Over the rim of a container an object falls by at most this much; a deeper fall must be asked for."""


def lowered(
    made: Releases, params: PlaceParams, setting: PlaceSetting, world: World, name: str
) -> tuple[Releases, int]:
    """Set the heights of candidates so that the object is let go right over what carries it.

    A candidate over a level surface of no loose object comes first. In a container with a rim the last half of the
    candidates lets go over the rim, for hands that do not fit in. Success mode ``height`` asks for a fall, so there the
    object is let go over the top of the container, whatever is below.

    Args:
        made: Candidates with any height.
        params: Parameters of Place.
        setting: Setting in the snapshot.
        world: The snapshot.
        name: The object in the hand.

    Returns:
        The candidates that have a support, and the number of those that have none.

    Raises:
        StepFailed: NO_CANDIDATE, no candidate has a support.
    """
    rests = _rests(made, params, setting, world, name)
    falls = params.success_mode == "height"
    kept = [i for i, rest in enumerate(rests) if rest.is_carried or falls]
    if not kept:
        raise StepFailed(_without_support(params, name, rests))
    kept.sort(key=lambda i: not rests[i].is_even)
    carried = np.array([rests[i].height_m for i in kept])
    rim = np.array([setting.high[2] - rests[i].underside_m for i in kept])
    before = np.maximum(np.where(np.isfinite(carried), carried, rim), rim) + params.pre_place_z_offset
    if falls:
        heights, order = rim, list(range(len(kept)))
    else:
        heights, order = _with_rim(carried, rim, [rests[i].is_over_container for i in kept])
    chosen = np.array(kept)[order]
    arms = made.turns[chosen] @ setting.held.ee_T_object.translation_m
    releases = replace(
        made,
        turns=made.turns[chosen],
        before=_at_height(made.at[chosen], before[order] - arms[:, 2]),
        at=_at_height(made.at[chosen], heights + params.place_z_offset - arms[:, 2]),
    )
    return releases, len(rests) - len(kept)


def _rests(made: Releases, params: PlaceParams, setting: PlaceSetting, world: World, name: str) -> list[Rest]:
    """Let the object down at each candidate."""
    part = container_part(world.objects[params.container], params.place_part)
    around = Surroundings(world, part, name, float(setting.low[2]) - params.below_tolerance)
    grip, body = setting.held.ee_T_object, world.objects[name]
    origins = made.at + made.turns @ grip.translation_m
    turns = (Rotation.from_matrix(turn) @ grip.rotation for turn in made.turns)
    return [around.rest(body, turn, at[:2]) for turn, at in zip(turns, origins, strict=True)]


def _with_rim(carried: Array, rim: Array, is_over: list[bool]) -> tuple[Array, list[int]]:
    """Return heights and indices of candidates: where there is a rim, each first half again over it."""
    half = (len(carried) + 1) // 2
    has_rim = (rim > carried + 1e-3) & (rim <= carried + RIM_DROP_M)
    over = [i for i in range(half) if has_rim[i] and is_over[i]]
    if not over:
        return carried, list(range(len(carried)))
    return np.concatenate([carried[:half], rim[over]]), [*range(half), *over]


def _at_height(positions: Array, heights: Array) -> Array:
    return np.column_stack([positions[:, :2], heights])


def _without_support(params: PlaceParams, name: str, rests: list[Rest]) -> Outcome:
    """Say that nothing carries the object, and what to change."""
    missing = min(rest.missing_m for rest in rests)
    below = (
        f"the next surface is {missing:.2f} m too low" if np.isfinite(missing) else "there is nothing below"
    )
    if missing <= 0.0:
        below = "less than half of its underside has a surface below it"
    ranges = {"x_ratio_range": params.x_ratio_range, "y_ratio_range": params.y_ratio_range}
    outside = [key for key, (low, high) in ranges.items() if low < 0.0 or high > 1.0]
    value = ", ".join(f"{key} {list(ranges[key])}" for key in outside)
    what = f"give {' and '.join(outside)} within 0 to 1" if outside else "name a container that carries it"
    where = f"at {params.container!r}" + (f" with {value}" if value else "")
    text = f"nothing carries {name!r} {where}: {below}; {what}, or set heights_from to container_top to let it fall"
    return Outcome(Code.NO_CANDIDATE, text, "select", outside[0] if outside else "container")
