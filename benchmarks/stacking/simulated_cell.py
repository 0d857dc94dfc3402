"""The cell in MuJoCo behind the application's interface; ticks, controller cycles and physics in lockstep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from decider_node.motion.command import MotionCommand
from decider_node.motion.controller import ReactiveController, Settings
from decider_node.motion.irregular_ticks import STALE_S
from decider_node.stacking.bin import HEIGHT_M
from decider_node.stacking.cell import StackingCell, obstacles, scene
from decider_node.stacking.feeding import PARKED, drawn_pose
from decider_node.stacking.seeds import CupSolver
from handiwork_core.model.conveyor import BeltSpec
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.suction import SuctionState
from handiwork_core.model.world import (
    ObjectState,
    Shape,
    ShapeKind,
    WorldObject,
)
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import Scene, SceneObject
from handiwork_core.scene.shapes import GREY
from sim_bridge.mujoco.cup_slip import CupSlip
from sim_bridge.mujoco.world import MujocoWorld

ROOT = Path(__file__).resolve().parents[2]
CYCLE_S, PHYSICS_STEPS, SUCTION_STEPS = 0.01, 10, 5
UR10 = ROOT / "src/robot_description/robots/ur10_suction"


class Seen(Mapping[str, ObjectState]):
    """The bins that have been on the belt; each state is read at its first use, once."""

    def __init__(self, world: MujocoWorld, names: list[str]) -> None:
        self._world, self._names = world, names
        self._states: dict[str, ObjectState] = {}

    def __getitem__(self, name: str) -> ObjectState:
        if name not in self._states:
            if name not in self._names:
                raise KeyError(name)
            self._states[name] = self._world._object_state(name, False)
        return self._states[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class SimulatedCell:
    """Arm, belt and bins. Bins wait on a table outside until they are put onto the belt.

    Bodies at rest sleep until an awake one touches them: a stack of 36 costs nothing without contact.
    """

    def __init__(
        self, bins: int, seed: int, site: StackingCell, robot_dir: Path = UR10, slip: CupSlip | None = None
    ) -> None:
        self.site, self.robot = site, load_robot(robot_dir)
        self.arm = self.robot.arm("")
        declared = self._with_table(scene(site, bins, PARKED), bins)
        self.world = MujocoWorld(self.robot, declared, sleeps=True, slip=slip)
        self._rng = np.random.default_rng(seed)
        self._indices = self.world.indices(self.arm.joint_names)
        assert self.arm.gripper is not None
        self.cup = self.world.cups[self.arm.gripper.name]
        self._ee_T_tip = Pose.of((0.0, 0.0, self.arm.gripper.tcp_offset_m))
        self._tip_T_ee = self._ee_T_tip.inverse()
        self.restart()
        self._waiting = [f"bin_{k}" for k in range(bins)]
        self._seen: list[str] = []
        self._last_view: dict[str, ObjectState] = {}
        self._view_s, self._blind_until_s = 0.0, 0.0
        self._command: MotionCommand | None
        self._belt_runs: bool | None
        self.nearest_m = 1.0

    @staticmethod
    def _with_table(scene_: Scene, bins: int) -> Scene:
        size = np.array([0.4 * bins, 0.4, 0.1])
        middle = PARKED.translation_m + (0.2 * (bins - 1), 0.0, -0.5 * HEIGHT_M - 0.05)
        table = WorldObject("table", (Shape(ShapeKind.BOX, size, Pose.identity()),), is_static=True)
        return replace(scene_, objects=(*scene_.objects, SceneObject(table, Pose.of(middle), 0.6, GREY)))

    def restart(self) -> None:
        """Replace the controller by a new one, as in a new process; belt and cup stay as they are."""
        self.controller = ReactiveController(
            self.robot, self.arm, Pose.identity(), Settings(clearance_m=0.002)
        )
        self.controller.set_world(obstacles(self.site))
        assert self.arm.gripper is not None
        self._solver = CupSolver(self.controller, self.arm.gripper.tcp_offset_m)
        self._command, self._belt_runs = None, None

    def bins(self) -> Mapping[str, ObjectState]:
        """Return the bins that have been on the belt, as they were last seen."""
        return self._last_view if self._is_blind else self.true_bins()

    def true_bins(self) -> Mapping[str, ObjectState]:
        """Return the bins that have been on the belt with their true poses, whether or not they are seen."""
        return Seen(self.world, list(self._seen))

    @property
    def _is_blind(self) -> bool:
        return self.world.time_s < self._blind_until_s

    @property
    def is_stale(self) -> bool:
        """The poses of bins are too old: the network does not tick and the arm brakes, as in ``decider_node``."""
        return self._is_blind and self.world.time_s - self._view_s > STALE_S

    def lose_sight(self, duration_s: float) -> None:
        """Stop the stream of bin poses for some time; as over ROS, the last poses stay and grow old.

        Args:
            duration_s: The time, s.
        """
        self._last_view, self._view_s = dict(self.true_bins()), self.world.time_s
        self._blind_until_s = self.world.time_s + duration_s

    def drive_belt(self, speed_mps: float) -> None:
        """Run the belt at another speed than the network's, until ``release_belt``.

        Args:
            speed_mps: The speed, m/s.
        """
        self.world.belts.run("belt", BeltSpec((0.0, -speed_mps, 0.0)))

    def release_belt(self) -> None:
        """Give the belt back to the network; its next command counts."""
        on, self._belt_runs = bool(self._belt_runs), None
        self.run_belt(on=on)

    def take_out(self, name: str) -> None:
        """Move a bin out of the cell, back to the place where it waited.

        Args:
            name: Name of the bin.
        """
        place = PARKED.translation_m + (0.4 * int(name.rpartition("_")[2]), 0.0, 0.0)
        self.world.set_object_pose(name, Pose.of(place))

    def tip(self) -> Pose:
        """Return the pose of the rim in the world."""
        return self.world.body_pose(f"{self.robot.name}/{self.arm.ee_link}") @ self._ee_T_tip

    def joints(self) -> Array:
        """Return the measured joints, (6,), rad."""
        return self.world.joints().position[self._indices]

    def suction(self) -> SuctionState:
        """Return the state of the cup, without the object before it."""
        cup = self.cup
        return SuctionState(self.world.time_s, cup.on, bool(cup.object), cup.object)

    def suck(self, *, on: bool) -> None:
        """Switch the cup.

        Args:
            on: Switch it on.
        """
        self.cup.switch(on=on)

    def run_belt(self, *, on: bool) -> None:
        """Switch the belt.

        Args:
            on: Switch it on.
        """
        if on != self._belt_runs:
            self._belt_runs = on
            self.world.belts.run("belt", BeltSpec((0.0, -self.site.belt.speed if on else 0.0, 0.0)))

    def go(self, command: MotionCommand) -> None:
        """Take a command for the tip; those of the controller are for the flange.

        Args:
            command: The command.
        """
        self._command = command

    def stop(self) -> None:
        """Brake."""
        self._command = None

    def set_off(self, names: frozenset[str]) -> None:
        """Switch collision regions off.

        Args:
            names: Names of the regions.
        """
        self.controller.set_off(names)

    def configuration(self, world_T_tip: Pose, near: Array | None) -> Array | None:
        """Return joint positions for a pose of the tip, (6,), rad; None without a solution.

        Args:
            world_T_tip: The pose.
            near: Configuration that the solution should be near, (6,), rad; None for any.
        """
        return self._solver.configuration(world_T_tip, near)

    def feed(self) -> str | None:
        """Put the next bin onto the belt, upright or upside down, anywhere across, with any heading.

        Returns:
            Its name; None if there is none left.
        """
        if not self._waiting:
            return None
        name = self._waiting.pop(0)
        pose = drawn_pose(self.site, self._rng)
        self._seen.append(name)
        self.world.set_object_pose(name, pose)
        return name

    def advance(self) -> None:
        """Run one cycle of the controller and its physics."""
        q = self.joints()
        if self._command is None or self.is_stale:
            reference = self.controller.stop(q, CYCLE_S)
        else:
            reference = self.controller.step(self._for_flange(self._command), q, CYCLE_S)
            self.nearest_m = reference.clearance_m
        self.world.command(self._indices, reference.q, reference.rate)
        for _ in range(0, PHYSICS_STEPS, SUCTION_STEPS):
            self.world.step(SUCTION_STEPS)
            if self.cup.on:
                self.cup.update(SUCTION_STEPS * 0.001)

    def _for_flange(self, command: MotionCommand) -> MotionCommand:
        flange = command.world_T_target @ self._tip_T_ee
        return MotionCommand(flange, command.approach, command.posture, command.world_v_target, command.speed)
