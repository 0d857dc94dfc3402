"""Frames of goals: the world, the base, objects, links and tf's; unknown and stale ones are refused."""

from __future__ import annotations

import pytest

from handiwork_core.contracts.skill import StepFailed
from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.testing.fakes import Fakes
from handiwork_core.testing.gantry import gantry_pose
from skill_server.state.frame_lookup import forget_frames, frame_used

from .execution.test_executor import made, move_cube

CAMERA = Pose.of((0.3, 0.1, 0.9), Rotation.from_rpy(3.0, 0.0, 0.5))


class Transforms:
    """Transforms of one frame, which may be stale."""

    def __init__(self) -> None:
        self.stale = False

    def lookup(self, target: str, source: str, field: str = "") -> Pose:
        assert (target, source) == ("world", "camera")
        if self.stale:
            text = "the newest transform of frame 'camera' is 3.2 s old"
            raise HandiworkError(Outcome(Code.STALE_WORLD, text, field_name=field))
        return CAMERA

    def known(self) -> list[str]:
        return ["camera"]


def seen(f: Fakes, name: str) -> Pose:
    forget_frames(f.context)
    return frame_used(name, "frame", f.context, f.context.world.snapshot())


def test_every_kind_of_frame_is_found() -> None:
    f = made()
    f.context.frames = Transforms()
    assert seen(f, "world").almost_equal(Pose.identity(), within_m=0.0, within_rad=0.0)
    assert seen(f, "base").almost_equal(f.context.world.world_T_base(), within_m=0.0, within_rad=0.0)
    assert seen(f, "cube") is f.cell.poses["cube"]
    assert seen(f, "camera") is CAMERA
    hand = f.context.arm_spec.ee_link
    assert seen(f, f"{f.context.robot.name}/{hand}").almost_equal(
        gantry_pose(f.cell.q), within_m=1e-9, within_rad=1e-6
    )


def test_an_unknown_frame_is_refused_with_the_nearest_name_and_a_stale_one_with_its_age() -> None:
    f = made()
    f.context.frames = Transforms()
    with pytest.raises(StepFailed, match="frame 'camra' is not known; did you mean 'camera'") as refused:
        seen(f, "camra")
    assert (refused.value.outcome.code, refused.value.outcome.field_name) == (Code.UNKNOWN_FRAME, "frame")
    f.context.frames.stale = True
    with pytest.raises(StepFailed, match=r"3\.2 s old") as old:
        seen(f, "camera")
    assert old.value.outcome.code is Code.STALE_WORLD
    f.context.frames = None
    with pytest.raises(StepFailed, match="'camera' is not known"):
        seen(f, "camera")


def test_a_stale_frame_is_used_as_soon_as_a_newer_transform_comes() -> None:
    f = made()
    f.context.frames = late = Transforms()
    late.stale, lookup = True, late.lookup

    def second_time(target: str, source: str, field: str = "") -> Pose:
        try:
            return lookup(target, source, field)
        finally:
            late.stale = False

    late.lookup = second_time  # type: ignore[method-assign]
    assert seen(f, "camera") is CAMERA


def test_a_frame_that_moves_is_judged_where_the_motion_was_planned() -> None:
    f = made()
    planned = seen(f, "cube")
    move_cube(f, 0.1)
    world = f.context.world.snapshot()
    assert frame_used("cube", "frame", f.context, world) is planned
    assert seen(f, "cube").translation_m[0] == pytest.approx(planned.translation_m[0] + 0.1)
