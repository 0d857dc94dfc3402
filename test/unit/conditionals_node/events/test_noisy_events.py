"""Events that read measured poses wait until noise does not explain them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose, Rotation, frozen
from handiwork_core.model.world import World
from support.records.tabletop import Episode, Shown

TASK = (
    "{name: t, events: {upright: [can]}, OPTIONS subtasks: [{name: go, groups: {cube: [{expression: "
    "'object_grabbed(object=cube)'}]}}]}"
)
SD_M, SD_RAD = 0.005, 0.05
ROOM_M = 2.3264 * SD_M
"""What noise exceeds along a direction with a probability of 0.01, m."""


@dataclass
class Measured(Shown):
    """An instant that is seen with noise, or without where ``sd_m`` and ``sd_rad`` are 0; the can leans."""

    tilt_rad: float = 0.0
    sd_m: float = SD_M
    sd_rad: float = SD_RAD

    def world(self, t: float) -> World:
        exact, states = super().world(t), {}
        noise = frozen(np.diag([self.sd_m**2] * 3 + [self.sd_rad**2] * 3))
        for name, state in exact.states.items():
            pose = state.world_T_object
            if name == "can":
                pose = Pose(Rotation.from_rpy(self.tilt_rad, 0.0, 0.0), pose.translation_m)
            covariance = noise if self.sd_m else None
            states[name] = replace(state, world_T_object=pose, pose_covariance=covariance)
        return replace(exact, states=states)


def seen(*shown: Shown, options: str = "") -> list[str]:
    """Return the names of the events of instants that follow a measured start."""
    episode = Episode(TASK.replace("OPTIONS", options), start=Measured())
    for one in shown:
        episode.show(one)
    return episode.codes


def pushed(way_m: float, **noise: float) -> list[Shown]:
    end = (-0.3 + way_m, 0.0, 0.04)
    # It moves from where it was at the start, and is found at rest.
    return [Measured({}, {"can": 0.5}, **noise), Measured({"can": end}, **noise)]


@pytest.mark.parametrize(
    ("way_m", "code"),
    [
        (0.05 + 0.9 * ROOM_M * 2**0.5, None),
        (0.05 + 1.1 * ROOM_M * 2**0.5, "OBJECT_BUMPED"),
        (0.5 + 0.9 * ROOM_M * 2**0.5, "OBJECT_BUMPED"),
        (0.5 + 1.1 * ROOM_M * 2**0.5, "OBJECT_MOVED"),
    ],
)
def test_a_way_counts_when_noise_does_not_explain_it(way_m: float, code: str | None) -> None:
    assert seen(*pushed(way_m)) == ([] if code is None else [code])


def test_an_exact_way_counts_at_its_limit() -> None:
    assert seen(*pushed(0.0501, sd_m=0.0)) == ["OBJECT_BUMPED"]


def test_a_task_may_allow_more_noise() -> None:
    assert seen(*pushed(0.051), options="max_flip: 1.0,") == ["OBJECT_BUMPED"]


def test_an_object_has_left_the_scene_when_noise_does_not_explain_it_and_only_once() -> None:
    edge_m = 1.55
    at = [Measured({"can": (edge_m + by, 0.0, 0.04)}) for by in (0.9 * ROOM_M, 1.1 * ROOM_M, 0.5 * ROOM_M)]
    assert seen(at[0]) == []
    # In doubt it is neither back nor gone once more, however long ago the report is.
    assert seen(at[1], *[at[2]] * 30, at[1]) == ["OBJECT_OUT_OF_SCENE"]


def test_an_object_has_tipped_over_when_noise_does_not_explain_it() -> None:
    limit, room = 0.3, 2.3264 * SD_RAD
    assert seen(Measured(tilt_rad=limit + 0.9 * room)) == []
    assert seen(Measured(tilt_rad=limit + 1.1 * room)) == ["OBJECT_TIPPED_OVER"]


def test_what_noise_may_have_lost_is_not_given_up() -> None:
    text = "{name: t, subtasks: [{name: put, pick_and_place: {object: [cube], container: bin}}]}"
    lost = {}
    for name, z in (("perhaps", -0.14), ("surely", -0.16)):
        episode = Episode(text, start=Measured())
        episode.show(Measured({"cube": (1.2, 0.0, z)}))
        lost[name] = bool(episode.success.unwinnable[0])
    assert lost == {"perhaps": False, "surely": True}


def test_a_way_that_noise_may_have_shortened_counts_as_a_push() -> None:
    text = (
        "{name: t, success: {settle_s: 0, push_m: 0.05}, subtasks: [{name: go, groups: {cube: [{expression: "
        "'object_outside_of(object=cube, container=bin)'}]}}]}"
    )
    for sd_m, refusals in ((0.0, []), (SD_M, ["cube was moved, but no hand carried it"])):
        episode = Episode(text, start=Measured(sd_m=sd_m))
        episode.show(Measured({"cube": (0.04, 0.0, 0.02)}, sd_m=sd_m), times=5)
        assert episode.watch.refusals == refusals
