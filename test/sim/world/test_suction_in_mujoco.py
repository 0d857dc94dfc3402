"""The simulated cup seals on a body that its whole rim touches, holds by force, and lets go at once. No ROS."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from sim_bridge.mujoco.cup_slip import CupSlip
from sim_bridge.mujoco.simulation import CONTROL_S, Simulation
from support.paths import ROBOTS, ROOT

ROBOT = load_robot(ROBOTS / "ur10_suction")
SCENE = load_scene(ROOT / "config/scenes/suction.yaml")
HALF_M, WEIGHT_N = 0.04, 0.4 * 9.81
"""Half edge and weight of the parcel."""


class Cell:
    """The arm at home, its cup pointing down in mid-air, and a parcel before it."""

    def __init__(self, slip: CupSlip | None = None) -> None:
        self.sim = Simulation(ROBOT, SCENE, slip=slip)
        self.cup = self.sim.world.cups["ur10_suction"]
        self.sim.advance(50)
        self.tip = self.sim.world.body_pose("ur10_suction/suction_tip")

    def offer(self, gap_m: float, tilt_rad: float = 0.0, aside_m: float = 0.0) -> None:
        """Hold the parcel's top at a distance from the rim for one update of the cup."""
        down = Rotation.from_matrix(self.tip.rotation.matrix() @ np.diag([1.0, -1.0, -1.0]))
        turn = down @ Rotation.from_axis_angle((1.0, 0.0, 0.0), tilt_rad)
        at = self.tip.apply(np.array([aside_m, 0.0, HALF_M + gap_m]))
        self.cup.switch(on=False)
        self.sim.world.set_object_pose("parcel", Pose.of(at, turn))
        self.cup.switch(on=True)
        self.cup.update(CONTROL_S)

    def in_tip(self) -> Pose:
        """Return the pose of the parcel in the frame of the rim."""
        parcel = self.sim.world.object_states()["parcel"].world_T_object
        return self.sim.world.body_pose("ur10_suction/suction_tip").inverse() @ parcel

    def height(self) -> float:
        return float(self.sim.world.object_states()["parcel"].world_T_object.translation_m[2])

    def push(self, force_n: tuple[float, float, float], moment_nm: tuple[float, float, float]) -> None:
        """Load the parcel from now on."""
        body = self.sim.world.model.body("parcel").id
        self.sim.world.data.xfrc_applied[body] = (*force_n, *moment_nm)


@pytest.fixture
def cell() -> Cell:
    return Cell()


@pytest.mark.parametrize(("gap_m", "tilt_rad", "aside_m", "words"), [
    (-0.001, 0.0, 0.0, ""),
    (-0.001, 0.1, 0.0, ""),
    (0.002, 0.0, 0.0, "2.0 mm from the rim"),
    (0.02, 0.0, 0.0, "20.0 mm from the rim"),
    (-0.002, 0.22, 0.0, "tilted by 12.6 degrees"),
    (-0.001, 0.0, 0.04, "points of the rim are over nothing"),
])  # fmt: skip
def test_a_seal_needs_the_whole_rim_near_and_level(
    cell: Cell, gap_m: float, tilt_rad: float, aside_m: float, words: str
) -> None:
    cell.offer(gap_m, tilt_rad, aside_m)
    state = cell.cup.state(0.0)
    assert state.sealed == (not words)
    assert words in state.why
    if words and aside_m == 0.0:
        assert state.angle_rad == pytest.approx(tilt_rad, abs=1e-3)


def test_what_cannot_be_lifted_is_not_held(cell: Cell) -> None:
    table = cell.sim.world.model.body("tray")
    table.pos[:] = cell.tip.apply(np.array([0.0, 0.0, 0.009]))
    cell.cup.switch(on=True)
    cell.sim.advance(2)
    assert not cell.cup.state(0.0).sealed
    assert "cannot be lifted" in cell.cup.state(0.0).why


def test_the_weight_hangs_on_the_seal_and_off_lets_go_at_once(cell: Cell) -> None:
    cell.offer(-0.001)
    before = cell.height()
    cell.sim.advance(300)
    state = cell.cup.state(0.6)
    assert state.object == "parcel"
    assert state.force_n == pytest.approx(WEIGHT_N, rel=0.01)
    assert abs(cell.height() - before) < 0.001
    touch = next(c for c in cell.sim.world.contacts() if {c.a, c.b} == {cell.cup.body, "parcel"})
    assert abs(touch.force_on_a_n[2]) == pytest.approx(WEIGHT_N, rel=0.01)
    cell.cup.switch(on=False)
    begun = cell.height()
    cell.sim.advance(50)
    assert begun - cell.height() == pytest.approx(0.5 * 9.81 * 0.1**2, rel=0.1)


@pytest.mark.parametrize(("force_n", "moment_nm", "what"), [
    ((0.0, 0.0, -90.0), (0.0, 0.0, 0.0), ""),
    ((0.0, 0.0, -105.0), (0.0, 0.0, 0.0), "pull"),
    ((60.0, 0.0, 0.0), (0.0, 2.4, 0.0), "shear"),
    ((0.0, 0.0, 0.0), (1.8, 0.0, 0.0), ""),
    ((0.0, 0.0, 0.0), (2.2, 0.0, 0.0), "moment"),
])  # fmt: skip
def test_the_seal_breaks_by_load(
    cell: Cell, force_n: tuple[float, float, float], moment_nm: tuple[float, float, float], what: str
) -> None:
    cell.offer(-0.001)
    cell.sim.advance(50)
    cell.push(force_n, moment_nm)
    cell.sim.advance(100)
    state = cell.cup.state(0.0)
    assert state.sealed == (not what)
    assert f"torn off by a {what}" in state.why or not what


def test_what_is_put_elsewhere_is_let_go(cell: Cell) -> None:
    cell.offer(-0.001)
    cell.sim.world.set_object_pose("parcel", Pose.of((0.7, 0.0, 0.04)))
    cell.sim.advance(100)
    assert not cell.cup.state(0.0).sealed
    assert cell.height() == pytest.approx(0.04, abs=0.002)


def test_a_reset_switches_the_cup_off(cell: Cell) -> None:
    cell.offer(-0.001)
    cell.sim.reset(SCENE)
    fresh = cell.sim.world.cups["ur10_suction"]
    assert (fresh.on, fresh.object) == (False, "")


def test_an_object_slides_under_a_lip_that_slips_and_is_still_held() -> None:
    cell = Cell(CupSlip(aside_m=0.004, turn_rad=0.02, seed=1))
    cell.offer(-0.001)
    assert cell.cup.object == "parcel"
    before = cell.in_tip()
    cell.sim.advance(200)
    after = cell.in_tip()
    moved = after.translation_m - before.translation_m
    assert 0.002 < float(np.linalg.norm(moved[:2])) < 0.02
    assert cell.cup.object == "parcel"
    cell.sim.advance(200)
    assert np.linalg.norm(cell.in_tip().translation_m - after.translation_m) < 2e-4, "the lip has closed"


def test_a_held_object_creeps_along_a_load_across_the_cup() -> None:
    moved = []
    for creep in (0.0, 0.0002):
        cell = Cell(CupSlip(creep_m_per_ns=creep))
        cell.offer(-0.001)
        before = cell.sim.world.object_states()["parcel"].world_T_object.translation_m
        cell.push((10.0, 0.0, 0.0), (0.0, 0.0, 0.0))
        cell.sim.advance(500)
        moved.append((cell.sim.world.object_states()["parcel"].world_T_object.translation_m - before)[0])
        assert cell.cup.object == "parcel"
    assert moved[1] - moved[0] == pytest.approx(0.0002 * 10.0 * 500 * CONTROL_S, rel=0.15)
