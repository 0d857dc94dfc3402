"""Times, funnels, regions and the window of a cell's file are checked as they are read, and keep their values."""

from __future__ import annotations

import numpy as np
import pytest

from decider_node.stacking.profile.actions import Actions, Arrival, DispatchKind, Funnel, Lift, Waits
from decider_node.stacking.profile.regions import Region, RegionShape, Window
from handiwork_core.config.dataclass_loader import ConfigError, parse


def test_parts_that_are_left_out_keep_their_defaults() -> None:
    data = {
        "dispatch": "cortex",
        "waits": {"closing": None},
        "leave": {"height": 0.1},
        "inside": {"length": 0.3},
    }
    found = parse(Actions, data, "cell")
    assert found.dispatch is DispatchKind.CORTEX
    assert found.waits == Waits(closing=None)
    assert found.leave == Lift(0.1)
    assert found.inside == Funnel(0.3)
    assert (found.outside, found.at_place) == (Funnel(0.1), Arrival(0.003, 0.01))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"dispatch": "seed"}, "dispatch"),
        ({"waits": {"before_closing": -0.1}}, "waits.before_closing: is -0.1; write 0 or more"),
        ({"waits": {"lock": 0.0}}, "waits.lock: is 0.0; write more than 0"),
        ({"pick_lift": {"height": 0.3, "longest": 0.0}}, "pick_lift.longest: is 0.0; write more than 0"),
        ({"pick_lift": {"height": 0.3, "speed": 1.5}}, "pick_lift.speed: is 1.5; write a share, at most 1"),
        ({"place": {"length": 0.0}}, "place.length: is 0.0; write more than 0"),
        ({"at_bin": {"distance": 0.0, "turn": 0.1}}, "at_bin.distance: is 0.0; write more than 0"),
        ({"correction": {"share": 2.0}}, "correction.share: is 2.0; write a share, at most 1"),
        ({"place_speed": 0.0}, "place_speed: is 0.0; write more than 0"),
    ],
)
def test_faults_name_the_key_and_the_remedy(data: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(Actions, data, "cell")
    assert words in str(caught.value)


def test_a_capsule_lies_along_its_axis() -> None:
    region = Region("barrier", RegionShape.CAPSULE, (0.4, 0.2, -0.5), 0.5, 0.9, (1.0, 0.0, -0.3))
    z = region.world_T_region.rotation.matrix()[:, 2]
    assert np.allclose(z, np.array([1.0, 0.0, -0.3]) / np.hypot(1.0, 0.3))
    assert np.isclose(np.linalg.det(region.world_T_region.rotation.matrix()), 1.0)
    (shape,) = region.body.shapes
    assert shape.size.tolist() == [0.5, 0.9]


def test_regions_and_windows_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match=r"length: is 0\.0; write more than 0 for a capsule"):
        Region("barrier", RegionShape.CAPSULE, (0.0, 0.0, 0.0), 0.5)
    with pytest.raises(ValueError, match="write the smaller number first"):
        Window((0.4, -0.4), (0.0, 0.7))
