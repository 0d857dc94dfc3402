"""The planner's process: loads the robot and an engine, waits for the robot's base frame, serves ``planner/*``."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.planning import Engine, Report
from handiwork_core.contracts.plugins import collect
from handiwork_core.model.geometry import Pose
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.safety.config import load_safety
from handiwork_ros.node.diagnostics import IntakeDiagnoses
from handiwork_ros.node.main import run
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.node.robot_folder import RobotFolder
from handiwork_ros.node.start_wait import OthersMissingError
from handiwork_ros.ports.frames import FrameBuffer, UnknownFrame
from handiwork_ros.ports.world import RosWorldSource
from handiwork_ros.ports.world_topics import Subscriptions

from .pipeline.batches import BatchPlanner
from .pipeline.engine_selection import AUTO, choose, open_engine
from .pipeline.engine_worker import EngineWorker
from .pipeline.pipeline import PlanningPipeline, WorldReaders
from .pipeline.planning_scene import PlanningScene
from .ros.services import PlanningServices

POLL_S = 0.02
CLOSE_S = 2.0
MOST_WORKERS = 256
GEOMETRY_S = 5.0  # discovery by Fast DDS's default settings takes up to 3.3 s

Engines = Callable[[], Mapping[str, type[Engine]]]


def installed_engines() -> Mapping[str, type[Engine]]:
    """Return the built-in engines and those of entry points, by name."""
    from .engines import ENGINES  # imported late: packages that only read this module stay light

    return collect(ENGINES, "handiwork.engines")


class PlannerNode(ManagedNode):
    """Serves requests while ACTIVE. Every engine call runs on one worker thread, so the executor stays free.

    Args:
        engines: Returns the engines by name.
        options: Options of the node; see ``ManagedNode``.
    """

    def __init__(self, engines: Engines = installed_engines, **options: Any) -> None:
        super().__init__("planner_node", **options)
        self._engines = engines
        self._robot_dir = RobotFolder(self).path
        self._engine_name = self.parameter("engine", AUTO, "auto, or the name of an engine such as cpu")
        self._may_fall_back = self.parameter(
            "fall_back_to_cpu", True, "plan on the CPU when the GPU fails; else build the engine again"
        )
        self._wait_s = self.parameter(
            "frame_timeout_s", 60.0, "longest wait for the robot's pose in world [s]"
        )
        text = "limits of the safety layer, a YAML file, whose tool_speed planned motions keep; empty: the defaults"
        self._safety_file = self.parameter("safety_file", "", text)
        text = "processes that plan_batch uses with the CPU engine; 1: it plans in this one; 0: one per core"
        self._batch_workers = self.parameter("batch_workers", 1, text)
        self._frames = FrameBuffer(self)
        self._planning_services = PlanningServices(self, self._frames)
        self._source: RosWorldSource | None = None
        self._pipeline: PlanningPipeline | None = None
        self._worker: EngineWorker | None = None
        self._batches: BatchPlanner | None = None

    def on_load(self, report: Report) -> None:
        """Read the robot, choose the engine, and load its kernels; see ``ManagedNode.on_load``.

        Meanwhile the node's process and the others find each other, which takes seconds.

        Args:
            report: Receives the progress.

        Raises:
            ConfigError: ``robot_dir``, ``safety_file`` or ``engine`` is invalid, or the engine cannot run here.
        """
        report(0.0, "reading the robot")
        if not self._robot_dir:
            raise ConfigError(
                "node planner_node", ["parameter robot_dir: is empty; give a folder such as robots/fr3"]
            )
        if not 0 <= self._batch_workers <= MOST_WORKERS:
            fault = f"parameter batch_workers: is {self._batch_workers}; give 0 to {MOST_WORKERS}"
            raise ConfigError("node planner_node", [fault])
        self._robot = load_robot(Path(self._robot_dir))
        self._tool_speed = load_safety(Path(self._safety_file), self._robot).tool_speed
        self._found = self._engines()
        self._kind, why = choose(self._engine_name, self._found)
        self.get_logger().info(why)
        self._kind.preload(self._robot, report)

    def on_prepare(self, report: Report) -> None:
        """Wait for the robot's pose, then load the engine; it stays until cleanup.

        Args:
            report: Receives the progress.

        Raises:
            OthersMissingError: Nobody publishes the robot's base frame.
            ConfigError: The engine does not load, and there is no spare one.
        """
        if self._pipeline is not None:
            return
        robot, kind = self._robot, self._kind
        source = self._source = self._source or self.on_executor(
            lambda: RosWorldSource(self, robot, Subscriptions(on_demand=True))
        )
        self.diagnostics.add("intake", IntakeDiagnoses(source.statistics))
        report(0.05, f"waiting for frame {robot.name}/{robot.root_link} on /tf_static")
        world_T_base = self._wait_for_base(robot, source)
        report(0.1, f"loading engine {kind.name!r}")
        spare = self._found.get("cpu") if self._may_fall_back else None
        engine = open_engine(
            kind,
            spare,
            (robot, world_T_base),
            lambda f, text: report(0.1 + 0.9 * f, text),
            lambda text: self.get_logger().warning(text),
            self._give_up,
        )
        readers = WorldReaders(
            source.snapshot, source.has_geometry, source.joint_age_s, source.joint_silence, source.conflict
        )
        self._await_geometry(source, report)
        self._pipeline = PlanningPipeline(
            robot, engine, PlanningScene(), readers, world_T_base, self._tool_speed
        )
        for joint, why in self._pipeline.limits.unchecked.items():
            self.get_logger().warning(f"torques of joint {joint} are not checked: {why}")
        self._worker = EngineWorker("planner-engine")
        self._batches = BatchPlanner(self._pipeline, world_T_base, self._batch_workers)

    def _await_geometry(self, source: RosWorldSource, report: Report) -> None:
        """Wait for discovery, so that the first request does not meet a planner without a world."""
        end_s = time.monotonic() + GEOMETRY_S
        while not source.has_geometry() and time.monotonic() < end_s:
            report(1.0, "waiting for world/objects")
            if self.closing.wait(0.05):
                return

    def on_start(self) -> None:
        """Open the services."""
        if self._pipeline is not None and self._worker is not None and self._batches is not None:
            self._planning_services.open(self._pipeline, self._worker, self._batches)

    def on_stop(self) -> None:
        """Refuse requests; at shutdown, ask the running calls to end."""
        self._planning_services.shut()
        if self.closing.is_set():
            for worker in self._workers():
                worker.stopping.set()

    def is_idle(self) -> bool:
        """Check whether no engine call is under way."""
        return all(worker.is_idle for worker in self._workers())

    def on_close(self) -> None:
        """End the workers, then the engine."""
        if self._batches is not None and not self._batches.close(CLOSE_S):
            self.get_logger().error(f"a batch did not stop within {CLOSE_S:.0f} s; it is left behind")
        if self._worker is not None and not self._worker.close(CLOSE_S):
            self.get_logger().error(f"the engine did not stop within {CLOSE_S:.0f} s; it is left behind")
        elif self._pipeline is not None:
            self._pipeline.engine.close()
        self._worker, self._pipeline, self._batches = None, None, None

    def _workers(self) -> tuple[EngineWorker, ...]:
        if self._worker is None or self._batches is None:
            return ()
        return self._worker, self._batches.worker

    def _give_up(self, text: str) -> None:
        """End the process, which launch starts again: a process that has lost its GPU cannot use it again."""
        self.get_logger().fatal(text)
        self.status_text, self.exit_code = text, 1

    def _wait_for_base(self, robot: Robot, source: RosWorldSource) -> Pose:
        deadline = time.monotonic() + self._wait_s
        while True:
            try:
                return source.world_T_base()
            except UnknownFrame as error:
                if self.closing.is_set() or time.monotonic() > deadline:
                    fault = f"/tf_static: {error} after {self._wait_s:.0f} s; start robot_description"
                    raise OthersMissingError("node planner_node", [fault]) from error
            self.closing.wait(POLL_S)


def main() -> None:
    """Run the node."""
    sys.exit(run(PlannerNode, sys.argv))


if __name__ == "__main__":
    main()
