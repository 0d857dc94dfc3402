"""The simulation as a ROS node: it serves the whole robot-and-world contract and is the clock of all other nodes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import Future as Job
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from rcl_interfaces.msg import SetParametersResult
from rclpy.parameter import Parameter

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.planning import Report
from handiwork_core.control.control_thread import done_now, works
from handiwork_core.control.gripper_controller import GripperGoal, GripperResult
from handiwork_core.control.trajectory_controller import TrajectoryResult
from handiwork_core.control.trajectory_goal import TrajectoryGoal
from handiwork_core.intake.regular_files import data_roots
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.safety.config import UNSUPERVISED, load_safety
from handiwork_core.safety.lease import HeartbeatLease
from handiwork_core.scene.loader import load_scene
from handiwork_ros.controllers.admittance_server import AdmittanceServer
from handiwork_ros.controllers.point_stream_server import PointStreamServer
from handiwork_ros.controllers.slot_server import SlotServer, arm_server, gripper_server
from handiwork_ros.node.main import run
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.node.robot_folder import RobotFolder
from handiwork_ros.safety.server import SafetyServer
from sim_bridge.loop.sim_loop import SimLoop
from sim_bridge.mujoco.cup_slip import CupSlip
from sim_bridge.mujoco.simulation import Simulation
from sim_bridge.mujoco.tool_exchange import continue_with_tool
from sim_bridge.ros.isaac_emulation.topics import IsaacInterface
from sim_bridge.ros.publishers import ContractPublishers
from sim_bridge.ros.services import SimServices
from sim_bridge.ros.simulation_interfaces.services import serve_standard
from sim_bridge.ros.suction_service import SuctionService

FACTOR = "real_time_factor"
FASTEST = 1000.0
"""The greatest real_time_factor."""

T = TypeVar("T")


class _PhysicsSide:
    """The physics thread; without one, work is done at once, because nothing moves then."""

    def __init__(self, loop: Callable[[], SimLoop | None]) -> None:
        self._loop = loop

    def submit(self, work: Callable[[], T]) -> Job[T]:
        """See ``ControlSide``."""
        loop = self._loop()
        return loop.submit(work) if loop is not None and loop.is_alive() else done_now(work)

    def works(self, name: str) -> bool:
        """See ``ControlSide``."""
        loop = self._loop()
        return loop is not None and works(loop, name)


@dataclass(frozen=True, slots=True)
class KeptWorld:
    """What the next node of the process continues from when the robot is exchanged."""

    simulation: Simulation
    is_paused: bool
    version: int


class SimBridge(ManagedNode):
    """Robot and scene in MuJoCo. All files are read at the start; a faulty file ends the process with the fault.

    Args:
        options: Options of the node; see ``ManagedNode``.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__("sim_bridge", **options)
        self._robot_dir = RobotFolder(self).path
        self._scene_file = self.parameter("scene_file", "", "scene YAML: config/scenes/<name>.yaml")
        text = "simulated seconds per second; 0: as fast as possible"
        self._factor = self.parameter(FACTOR, 1.0, text, is_live=True)
        self.add_on_set_parameters_callback(self._on_parameters)
        self._paused = self.parameter("paused", False, "start with the world paused")
        self._seed = self.parameter("seed", 0, "seed of the scene's random choices")
        self._randomize = self.parameter("randomize", False, "scatter the scene's objects at the start")
        text = "bodies at rest are not computed until one that moves touches them: scenes with many objects cost less"
        self._sleeps = self.parameter("sleep_at_rest", False, text)
        text = "sliding of an object while the lip of a suction cup closes, standard deviation along each side [m]"
        self._slip_m = self.parameter("cup_slip_m", 0.0, text)
        text = "turn of an object while the lip of a suction cup closes, standard deviation [rad]"
        self._slip_rad = self.parameter("cup_slip_rad", 0.0, text)
        text = "speed of sliding of a held object per load across the axis of the cup [m/s per N]"
        self._creep = self.parameter("cup_creep", 0.0, text)
        text = "handiwork: the robot-and-world contract; isaac: the interface of Isaac Sim's bridge, for isaac_bridge"
        self._interface = self.parameter("interface", "handiwork", text)
        text = "further folders below which requests may name files, separated by colons"
        roots = self.parameter("data_roots", "", text)
        own = [Path(self._robot_dir)] if self._robot_dir else []
        own += [Path(self._scene_file).parent] if self._scene_file else []
        self._roots = data_roots(roots, *own)
        text = "public: the arms' actions; hardware: what safety_node commands, to rehearse the ros2_control profile"
        self._controllers = self.parameter("controllers", "public", text)
        text = (
            "limits of the safety layer, a YAML file; empty: the defaults; unused with controllers: hardware"
        )
        self._safety_file = self.parameter("safety_file", "", text)
        before = None if self.received is None else self.received.kept
        self._before = before if isinstance(before, KeptWorld) else None
        if self._before is not None:
            self._paused = self._before.is_paused
        self._simulation: Simulation | None = None
        self._safety: SafetyServer | None = None
        self._loop: SimLoop | None = None
        self._contract: ContractPublishers | None = None
        self._isaac: IsaacInterface | None = None
        self._streams: list[PointStreamServer] = []
        self._admittance: list[AdmittanceServer] = []
        self._servers: list[
            SlotServer[TrajectoryGoal, TrajectoryResult] | SlotServer[GripperGoal, GripperResult]
        ] = []

    def on_load(self, report: Report) -> None:
        """Read robot and scene, and build the world; see ``ManagedNode.on_load``.

        Args:
            report: Receives the progress.

        Raises:
            ConfigError: A parameter or a file is invalid.
        """
        report(0.0, "reading robot and scene")
        self._check_parameters()
        robot = load_robot(Path(self._robot_dir))
        scene = load_scene(Path(self._scene_file))
        # A safety stop within the simulated hardware would latch without a client to clear it: safety_node supervises.
        is_hardware = self._controllers == "hardware"
        safety = UNSUPERVISED if is_hardware else load_safety(Path(self._safety_file), robot)
        report(0.5, "building the world")
        try:
            slip = CupSlip(self._slip_m, self._slip_rad, self._creep, self._seed)
            slips = slip if any((self._slip_m, self._slip_rad, self._creep)) else None
            before = self._before
            now = scene if before is None else before.simulation.world.scene
            simulation = Simulation(robot, now, safety, sleeps=self._sleeps, slip=slips)
            if before is not None:
                continue_with_tool(simulation, before.simulation)
            elif self._randomize:
                simulation.reset(scene.randomized(self._seed), self._seed)
        except ValueError as error:
            raise ConfigError(self._scene_file, [str(error)]) from error
        self._simulation = simulation

    def _check_parameters(self) -> None:
        faults = []
        if not self._robot_dir:
            faults.append("parameter robot_dir: is empty; give the folder of a robot, such as robots/fr3")
        if not self._scene_file:
            faults.append("parameter scene_file: is empty; give a scene, such as config/scenes/tabletop.yaml")
        if fault := factor_fault(self._factor):
            faults.append(fault)
        if self._interface not in ("handiwork", "isaac"):
            faults.append(f"parameter interface: is {self._interface!r}; give 'handiwork' or 'isaac'")
        if self._controllers not in ("public", "hardware"):
            faults.append(f"parameter controllers: is {self._controllers!r}; give 'public' or 'hardware'")
        if self._seed < 0:
            faults.append(f"parameter seed: is {self._seed}; give 0 or more")
        if faults:
            raise ConfigError(f"node {self.get_name()}", faults)

    def on_start(self) -> None:
        """Start the physics, and serve."""
        assert self._simulation is not None
        if self._interface == "isaac":
            self._isaac = self._isaac or IsaacInterface(self, self._simulation)
            self._loop = self._isaac.loop(self._simulation, self._factor, paused=self._paused)
            self._loop.start()
            return
        if self._contract is None:
            self._contract = ContractPublishers(self, self._simulation.robot.arms)
            self._contract.version = 0 if self._before is None else self._before.version
            self._offer(self._simulation, self._contract)
        self._contract.publish_geometry(self._simulation)
        publish = self._contract.publish
        self._loop = SimLoop(self._simulation, self._factor, paused=self._paused, publish=publish)
        self._loop.start()

    def _offer(self, simulation: Simulation, contract: ContractPublishers) -> None:
        services = SimServices(self, self._running, contract)
        serve_standard(self, services, self._running, contract, self._roots)
        is_hardware = self._controllers == "hardware"
        lease = HeartbeatLease(1.0, 1.0) if is_hardware else self._serve_safety(simulation).lease
        robot = simulation.robot
        for part in (*(() if robot.base is None else (robot.base,)), *robot.arms.values()):
            name = part.hardware_controller if is_hardware else part.controller
            self._servers.append(arm_server(self, self._running, part, lease, name))
            self._streams.append(PointStreamServer(self, self._running, part, name))
        self._admittance = [AdmittanceServer(self, self._running, arm) for arm in robot.arms.values()]
        for tool in (arm.gripper for arm in robot.arms.values() if arm.gripper is not None):
            if tool.suction is not None:
                suction = SuctionService(self, services, self._running, tool)
                contract.with_world.append(suction.publish)
            else:
                self._servers.append(gripper_server(self, self._running, tool, lease))

    def _serve_safety(self, simulation: Simulation) -> SafetyServer:
        self._safety = SafetyServer(
            self,
            _PhysicsSide(lambda: self._loop),
            simulation.safety,
            lambda: simulation.joints().effort,
            has_effort=True,
            has_force=True,
        )
        return self._safety

    def on_stop(self) -> None:
        """Bring the arm to rest, end its goals, stop the physics."""
        if self._contract is not None:
            self._contract.stop()
        if self._loop is not None:
            self._loop.close()

    def kept(self) -> KeptWorld | None:
        """Return the world in which another robot continues; see ``ManagedNode.kept``."""
        if self._simulation is None or self._loop is None:
            return self._before
        version = 0 if self._contract is None else self._contract.version
        return KeptWorld(self._simulation, self._loop.paused, version)

    def is_idle(self) -> bool:
        """Check whether every client has its result."""
        return all(server.idle for server in self._servers)

    def _on_parameters(self, changes: list[Parameter]) -> SetParametersResult:
        """Take another real_time_factor at once; ``on_start`` takes it after a restart of the physics."""
        for change in changes:
            if change.name == FACTOR:
                if fault := factor_fault(change.value):
                    return SetParametersResult(successful=False, reason=fault)
                self._factor = float(change.value)
                if self._loop is not None:
                    self._loop.set_factor(self._factor)
        return SetParametersResult(successful=True)

    def _running(self) -> SimLoop:
        assert self._loop is not None
        return self._loop


def factor_fault(value: object) -> str:
    """Return why a value is no real_time_factor; empty for a good one.

    Args:
        value: The value.
    """
    is_good = type(value) in (int, float) and 0.0 <= float(value) <= FASTEST  # type: ignore[arg-type]
    return "" if is_good else f"parameter {FACTOR}: is {value}; give 0 to {FASTEST:g}"


def main() -> None:
    """Run the node."""
    sys.exit(run(SimBridge))


if __name__ == "__main__":
    main()
