"""Each of these options changes the plan, the motion or the judgement by the amount that it gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import Code
from handiwork_core.testing.fakes import Fakes
from handiwork_core.testing.gantry import gantry_pose
from skill_server.execution.run import run_skill
from skill_server.geometry.orientation_cones import OrientationFilter
from skill_server.skills.motion.goto_pose import GotoPose, GotoPoseParams
from skill_server.skills.pick_place.dexplace import DexPlace, DexPlaceParams
from skill_server.skills.pick_place.pick import Pick, PickParams
from skill_server.skills.pick_place.place import Place, PlaceParams
from skill_server.skills.pick_place.pour import Pour, PourParams

from .execution.test_executor import made
from .grasping.test_grasp_rows import cell, rows, saved
from .placing.test_place_choice import made as carrying
from .placing.test_place_choice import release_poses


def pick(f: Fakes, **changed: Any) -> Any:
    return run_skill(Pick(), PickParams(object="cube", **changed), f.context)


def heights(f: Fakes, **changed: Any) -> tuple[float, float]:
    """Return the heights of the grasp and the end, m."""
    stops = [c for c in Pick().commands(PickParams(object="cube", **changed), f.context) if c.world_T_ee]
    poses = {c.stage: c.world_T_ee for c in stops if c.world_T_ee is not None}
    return float(poses["descend"].translation_m[2]), float(poses["lift"].translation_m[2])


@pytest.mark.parametrize(
    ("miss", "tight", "wide"),
    [
        ((0.01, 0.0, 0.0, 0.0, 0.0, 0.0), {"t_eps": 0.009}, {"t_eps": 0.011}),
        ((0.0, 0.0, 0.0, 0.1, 0.0, 0.0), {"o_eps": 0.09}, {"o_eps": 0.11}),
    ],
)
def test_tolerances_decide_what_counts_as_reached(
    miss: tuple[float, ...], tight: dict[str, float], wide: dict[str, float]
) -> None:
    f = made()
    f.arm.miss = np.array(miss)
    assert pick(f, **tight).outcome.code is Code.NOT_REACHED
    f = made()
    f.arm.miss = np.array(miss)
    assert pick(f, **wide).outcome.ok


@pytest.mark.parametrize("factor", [1.0, 0.3])
def test_accelerations_are_scaled_on_every_way(factor: float) -> None:
    f = made()
    assert pick(f, max_acceleration_scaling_factor=factor).outcome.ok
    assert [plan.acceleration_scaling for plan in f.planner.plans] == pytest.approx(
        [0.8 * factor, 0.5 * factor, 0.5 * factor]
    )
    assert [plan.velocity_scaling for plan in f.planner.plans] == pytest.approx([0.8, 0.5, 0.5])


@pytest.mark.parametrize("words", [(), ("tab",)])
def test_ignored_objects_are_no_obstacle_to_candidates_and_ways(words: tuple[str, ...]) -> None:
    f = made()
    assert pick(f, ignore_substring=words).outcome.ok
    assert run_skill(Place(), PlaceParams(container="tray", ignore_substring=words), f.context).outcome.ok
    scenes = [scene for request in f.planner.candidates for scene in request.scenes]
    scenes += [plan.scene for plan in f.planner.plans]
    assert len(scenes) > 8
    assert all(("table" in scene.ignored) == bool(words) for scene in scenes)


def test_how_far_below_its_container_an_object_may_lie() -> None:
    f = made()
    f.cell.poses["tray"] = Pose.of((0.4, -0.3, 0.03))  # its underside is 20 mm over the ground
    assert pick(f).outcome.ok
    outcome = run_skill(Place(), PlaceParams(container="tray", below_tolerance=0.019), f.context).outcome
    assert outcome.code is Code.NOT_IN_PLACE
    assert "fell 20 mm below it" in outcome.message
    assert pick(f).outcome.ok
    assert run_skill(Place(), PlaceParams(container="tray", below_tolerance=0.021), f.context).outcome.ok


def test_the_hand_goes_back_to_the_pre_grasp() -> None:
    f = made()
    run = pick(
        f,
        return_to_pregrasp=True,
        pre_grasp_offset=0.15,
        post_grasp_offset_min=0.05,
        post_grasp_offset_max=0.05,
    )
    assert run.outcome.ok
    assert [stage.stage for stage in run.stages][-2:] == ["lift", "return"]
    here, ways = gantry_pose(f.cell.q), [c.world_T_ee for c in f.planner.candidates[0].candidates]
    near = [way for way in ways if here.almost_equal(way[0], within_m=1e-9, within_rad=1e-6)]
    assert near
    pre, grasp, lifted, back = near[0]
    assert back is pre
    assert np.linalg.norm(pre.translation_m - grasp.translation_m) == pytest.approx(0.15)
    assert lifted.translation_m - grasp.translation_m == pytest.approx([0.0, 0.0, 0.05])


def test_weights_bind_the_way_from_the_pre_grasp_alone() -> None:
    f, hold = made(), (1.0, 1.0, 1.0, 2.0, 2.0, 0.0)
    assert pick(f, pre_grasp_hold_vec_weight=hold).outcome.ok
    assert [plan.hold_vec_weight for plan in f.planner.plans] == [None, hold, None]


def test_scale_and_tcp_of_an_annotation_reach_the_hand(tmp_path: Path) -> None:
    file = saved(tmp_path, rows(1))

    def grasp(**changed: Any) -> Array:
        """Return the point of the grasp in the object's frame (3,); the TCP of a row is 10 mm aside and 10 mm deep."""
        f = cell()
        f.context.rng = np.random.default_rng(0)
        params = PickParams(object="cube", npy_name=file, **changed)
        commands = Pick().commands(params, f.context)
        (pose,) = [c.world_T_ee for c in commands if c.stage == "descend"]
        assert pose is not None
        cube = f.context.world.snapshot().states["cube"].world_T_object
        return cube.inverse().apply(pose.translation_m)

    assert grasp(tcp_offset=0.1) == pytest.approx([-0.01, 0.0, 0.09])
    assert grasp(tcp_offset=0.15) == pytest.approx([-0.01, 0.0, 0.14])
    assert grasp(tcp_offset=0.1, grasp_scale=1.8) == pytest.approx([-0.018, 0.0, 0.09])


def test_the_lift_is_drawn_between_its_bounds_and_by_the_seed() -> None:
    def lift(seed: int) -> float:
        low, high = heights(made(seed), post_grasp_offset_min=0.05, post_grasp_offset_max=0.25)
        return high - low

    lifts = [lift(seed) for seed in range(8)]
    assert lifts == [lift(seed) for seed in range(8)]
    assert min(lifts) >= 0.05
    assert max(lifts) <= 0.25
    assert max(lifts) - min(lifts) > 0.05


def test_dexplace_keeps_filters_and_alignment_and_drives_the_hand_where_asked() -> None:
    def hands(**changed: Any) -> tuple[Fakes, list[Pose]]:
        f = carrying()
        params = DexPlaceParams(container="tray", approach_tol_deg=120.0, **changed)
        DexPlace().commands(params, f.context)
        return f, [c.world_T_ee[1] for request in f.planner.candidates for c in request.candidates]

    f, poses = hands(orientation_filters=(OrientationFilter("x", "leftward", 0.0, 15.0),))
    assert min(pose.rotation.matrix()[1, 0] for pose in poses) >= np.cos(np.deg2rad(15.0))
    aligned = {"align_pick_obj_axis": (0.0, 1.0, 0.0), "align_place_obj_axis": (1.0, 0.0, 0.0)}
    f, poses = hands(**aligned, align_obj_tol_deg=10.0)
    turned = [(pose @ f.cell.hand_T_object).rotation.matrix()[0, 1] for pose in poses]
    assert min(turned) >= np.cos(np.deg2rad(10.0))
    _, poses = hands(position_constraint="gripper", height=0.2)
    assert [pose.translation_m[2] for pose in poses] == pytest.approx([0.2] * len(poses))


@pytest.mark.parametrize(("mode", "planned"), [("forward", True), ("ik", False)])
def test_goto_pose_plans_its_way_before_or_not(mode: str, planned: bool) -> None:
    f = made()
    params = GotoPoseParams(position=(0.4, 0.0, 0.4), test_mode=mode)
    (go,) = (c for c in GotoPose().commands(params, f.context) if c.world_T_ee is not None)
    assert (go.planned is not None) == planned == bool(f.planner.plans)


@pytest.mark.parametrize(("tilt_deg", "code"), [(20.0, Code.OK), (30.0, Code.NOT_IN_PLACE)])
def test_what_is_poured_into_must_stand(tilt_deg: float, code: Code) -> None:
    f = carrying()
    f.cell.poses["cube"] = Pose.of((0.4, 0.1, 0.25))
    before = f.context.world.snapshot()
    f.cell.poses["tray"] = Pose.of(
        (0.4, -0.3, 0.01), Rotation.from_rpy(float(np.deg2rad(tilt_deg)), 0.0, 0.0)
    )
    params = PourParams(container="tray", container_up=(("tray", "z", 0.9),))
    assert Pour().is_feasible(params, f.context.robot, f.context.arm_spec, before).ok
    assert Pour().is_success(params, before, f.context.world.snapshot(), f.context).code is code


@pytest.mark.parametrize("frame", ["", "world", "container"])
def test_a_filter_counts_from_the_directions_of_its_frame(frame: str) -> None:
    base, tray = (Rotation.from_rpy(0.0, 0.0, float(np.deg2rad(a))) for a in (30.0, 100.0))
    f = carrying()
    f.cell.poses["tray"] = Pose.of((0.4, -0.3, 0.01), tray)
    f.context.world.world_T_base = lambda: Pose.of((0.0, 0.0, 0.0), base)  # type: ignore[method-assign]
    item = OrientationFilter("x", "forward", 0.0, 10.0, frame)
    params = PlaceParams(container="tray", orientation_filters=(item,))
    assert Place().is_feasible(params, f.context.robot, f.context.arm_spec, f.context.world.snapshot()).ok
    forward = {"": base, "world": Rotation.identity(), "container": tray}[frame].matrix()[:, 0]
    turned = [pose.rotation.matrix()[:, 0] @ forward for pose in release_poses(f, params)]
    assert min(turned) >= np.cos(np.deg2rad(10.0)) - 1e-9


def test_a_frame_that_is_not_there_is_refused() -> None:
    f = carrying()
    for skill, params, frame in (
        (Pick(), PickParams(object="cube"), "container"),
        (Place(), PlaceParams(container="tray"), "tray"),
    ):
        params = replace(params, orientation_filters=(OrientationFilter("x", "forward", 0.0, 10.0, frame),))
        world = f.context.world.snapshot()
        verdict = skill.is_feasible(params, f.context.robot, f.context.arm_spec, world)
        assert (verdict.code, verdict.field_name) == (Code.BAD_GOAL, "orientation_filters[0].frame")
        assert "world" in verdict.message
