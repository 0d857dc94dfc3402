"""Cost and speed of the supervision of motions in progress: ``python -m benchmarks.skills.supervision [--runs 20]``.

First the engine alone: the time to judge a whole motion and its rest. Then the whole stack over MuJoCo: the
time from an announced obstacle to the brake, and the cost of checks while an object on a belt moves all the time.
"""

# ruff: noqa: ANN401 messages of ROS

from __future__ import annotations

import argparse
import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from handiwork_cli.processes.progress import progress
from handiwork_cli.stack.stack import Stack
from handiwork_core.contracts.planning import (
    JointGoals,
    PathRest,
    PlanRequest,
    SceneQuery,
)
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import (
    ObjectState,
    Shape,
    ShapeKind,
    World,
    WorldObject,
)
from handiwork_core.robot.kinematics import forward
from handiwork_core.robot_files.loader import load_robot
from handiwork_planning.cpu_engine import CpuEngine

if TYPE_CHECKING:
    from handiwork_ros.clients.skill_client import GoalHandle, SkillReport

ROOT = Path(__file__).parents[2]
ARM, TICK_S = "fr3_arm", 1.0 / os.sysconf("SC_CLK_TCK")
WALL = "{static: true, shapes: [{type: box, size: [0.5, 0.02, 0.5]}]}"
RIGHT, LEFT = [0.45, -0.35, 0.35], [0.45, 0.35, 0.35]
CANCELING = 3
MOTION_TIMEOUT_S = 120.0


def milliseconds(work: Callable[[], Any], times: int = 20) -> tuple[float, float]:
    """Return the median and the 95th percentile of the duration of a call, ms.

    Args:
        work: The call.
        times: Number of calls.
    """
    took = []
    for _ in range(times):
        begun = time.perf_counter()
        work()
        took.append(1e3 * (time.perf_counter() - begun))
    return float(np.median(took)), float(np.percentile(took, 95))


def engine_rows() -> None:
    """Judge the whole of a motion of three seconds, and its second half."""
    robot = load_robot(ROOT / "src/robot_description/robots/fr3")
    engine = CpuEngine(robot, Pose.identity(), lambda _share, _text: None)
    engine.update_world(_boxes(np.zeros((0, 3))))
    start = np.array(robot.arm(ARM).home_q)
    end = start.copy()
    end[0] += 2.2
    found = engine.plan(PlanRequest(ARM, start, JointGoals(end[None]), velocity_scaling=0.3), lambda: False)
    path = found.trajectory
    assert path is not None
    near = forward(robot, ARM, path.sample(0.9 * path.duration_s)[0]).translation_m + (0.0, 0.0, 0.25)
    far = np.array([[2.0, 0.1 * i, 0.5] for i in range(20)])
    engine.update_world(_boxes(np.vstack([near[None], far])))
    half = 0.5 * path.duration_s
    rows: dict[str, PathRest | None] = {
        "whole, 21 objects": None,
        "rest, everything": PathRest(half),
        "rest, one object near": PathRest(half, frozenset({"box0"})),
        "rest, one object far away": PathRest(half, frozenset({"box1"})),
        "rest, twenty objects far away": PathRest(half, frozenset(f"box{i}" for i in range(1, 21))),
    }
    print(f"engine alone, a motion of {path.duration_s:.1f} s with {len(path.t_s)} samples [ms: median, p95]")
    for name, rest in rows.items():
        middle, worst = milliseconds(lambda rest=rest: _judge(engine, path, start, rest))  # type: ignore[misc]
        print(f"  {name:32s} {middle:7.2f} {worst:7.2f}")
    engine.close()


def _judge(engine: CpuEngine, path: Trajectory, start: Array, rest: PathRest | None) -> None:
    engine.validate(ARM, path, SceneQuery(), start, rest)


def _boxes(places: Array) -> World:
    zero, shape = np.zeros(3), Shape(ShapeKind.BOX, np.full(3, 0.1), Pose.identity())
    objects = {f"box{i}": WorldObject(f"box{i}", (shape,)) for i in range(len(places))}
    states = {f"box{i}": ObjectState(Pose.of(p), zero, zero, 0.0) for i, p in enumerate(places)}
    return World(0.0, 1, objects, states)


class Brakes:
    """Steady times of the geometry that names an object, and of the first cancelled goal of the arm."""

    def __init__(self, stack: Stack) -> None:
        from action_msgs.msg import GoalStatusArray
        from handiwork_msgs.msg import WorldObjects
        from sensor_msgs.msg import JointState

        from handiwork_ros.rclpy_support.qos import LATCHED, LATEST

        self.wall_s = self.brake_s = float("nan")
        self.yaw = 0.0
        self.moved = threading.Condition()
        node = stack.client.node
        node.create_subscription(WorldObjects, "world/objects", self._on_objects, LATCHED)
        node.create_subscription(JointState, "joint_states", self._on_joints, LATEST)
        topic = f"{ARM}_controller/follow_joint_trajectory/_action/status"
        node.create_subscription(GoalStatusArray, topic, self._on_status, LATCHED)

    def _on_objects(self, message: Any) -> None:
        # The newest message is repeated for new subscribers: the first one counts.
        if np.isnan(self.wall_s) and any(item.name == "wall" for item in message.objects):
            self.wall_s = time.monotonic()

    def _on_status(self, message: Any) -> None:
        if np.isnan(self.brake_s) and any(item.status == CANCELING for item in message.status_list):
            self.brake_s = time.monotonic()

    def _on_joints(self, message: Any) -> None:
        with self.moved:
            self.yaw = message.position[list(message.name).index("fr3_joint1")]
            self.moved.notify_all()

    def wait_yaw(self, angle: float, run: GoalHandle[SkillReport]) -> None:
        """Wait until the first joint is beyond an angle.

        Args:
            angle: The angle, rad.
            run: The motion.

        Raises:
            RuntimeError: The motion ended before.
        """
        with self.moved:
            self.moved.wait_for(lambda: run.done or self.yaw > angle, MOTION_TIMEOUT_S)
        if run.done:
            raise RuntimeError(f"the arm did not get under way: {run.result(1.0).outcome}")


def go(stack: Stack, place: list[float], speed: float) -> GoalHandle[SkillReport]:
    """Send the hand to a place.

    Args:
        stack: The stack.
        place: The place in the world, (3,), m.
        speed: Share of the velocity limits.
    """
    from handiwork_ros.clients.skill_goals import skill_goal

    return stack.client.send(
        skill_goal("goto_pose", {"position": place, "max_velocity_scaling_factor": speed})
    )


def put_wall(stack: Stack) -> None:
    """Put the wall across the way.

    Args:
        stack: The stack.
    """
    from simulation_interfaces.srv import SpawnEntity

    request = SpawnEntity.Request(name="wall", resource_string=WALL)
    request.initial_pose.header.frame_id = "world"
    place = request.initial_pose.pose.position
    place.x, place.y, place.z = 0.45, 0.06, 0.25
    answer = stack.call(SpawnEntity, "spawn_entity", request)
    assert answer.result.result == 1, answer.result.error_message


def reaction(runs: int) -> None:
    """Put a wall in the way of a moving arm, several times.

    Args:
        runs: Number of times.
    """
    from std_srvs.srv import Trigger

    from simulation_interfaces.srv import DeleteEntity

    took, ends = list[float](), Counter[str]()
    # At a quarter of real time the motion lasts long enough for the wall to come in time on a busy machine, too.
    with Stack({"real_time_factor": "0.25"}) as stack:
        stack.wait_active()
        brakes = Brakes(stack)
        for _ in progress(range(runs), "supervision"):
            report = go(stack, RIGHT, 1.0).result(MOTION_TIMEOUT_S)
            assert report.ok, report.outcome
            brakes.wall_s = brakes.brake_s = float("nan")
            begun = brakes.yaw
            run = go(stack, LEFT, 0.12)
            brakes.wait_yaw(begun + 0.04, run)  # the whole way is 0.32 rad
            put_wall(stack)
            code = run.result(MOTION_TIMEOUT_S).outcome.code
            ends[code.name] += 1
            stack.call(DeleteEntity, "delete_entity", DeleteEntity.Request(entity="wall"))
            if code is Code.PROTECTIVE_STOP:  # the wall came so late that it was put into the arm
                stack.call(Trigger, "safety/recover", Trigger.Request())
            else:
                took.append(1e3 * (brakes.brake_s - brakes.wall_s))
    good = np.array([value for value in took if np.isfinite(value)])
    print(f"from world/objects to the brake, {len(good)} of {runs} runs, load {os.getloadavg()[0]:.1f} [ms]:")
    if len(good):
        p50, p95, p99 = np.percentile(good, [50, 95, 99])
        print(f"  p50 {p50:.0f}, p95 {p95:.0f}, p99 {p99:.0f}, most {good.max():.0f}")
    print("  ends: " + ", ".join(f"{name} {count}" for name, count in ends.items()))


def cpu_s(pid: int) -> float:
    """Return the processor time of a process so far, s.

    Args:
        pid: The process.
    """
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK_S


def belt() -> None:
    """Compare processor shares during slow motions beside a belt at rest and one that runs."""
    from handiwork_msgs.srv import ResetWorld, SetBeltVelocity

    with Stack({"real_time_factor": "1", "scene": "belt"}) as stack:
        stack.wait_active()
        for name, velocity in (("stands", 0.0), ("runs at 0.08 m/s", 0.08)):
            request = SetBeltVelocity.Request(object="belt")
            request.velocity.y = velocity
            stack.call(ResetWorld, "sim/reset", ResetWorld.Request())
            assert go(stack, RIGHT, 1.0).result(60.0).ok
            stack.call(SetBeltVelocity, "sim/set_belt_velocity", request)
            pids = {node: stack.client.signs.pid(node) for node in ("skill_server", "planner_node")}
            before, begun = {node: cpu_s(pid or 0) for node, pid in pids.items()}, time.monotonic()
            outcome = go(stack, LEFT, 0.06).result(120.0).outcome
            lasted = time.monotonic() - begun
            shares = {node: (cpu_s(pid or 0) - before[node]) / lasted for node, pid in pids.items()}
            text = ", ".join(f"{node} {100.0 * share:.1f} %" for node, share in shares.items())
            print(f"belt {name}: {text} of a core over {lasted:.1f} s; {outcome.code.name}")


def main() -> None:
    """Run all three measurements, or the one that is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20, help="of the reaction")
    parser.add_argument("--only", choices=["engine", "reaction", "belt"])
    arguments = parser.parse_args()
    if arguments.only in (None, "engine"):
        engine_rows()
    if arguments.only in (None, "reaction"):
        reaction(arguments.runs)
    if arguments.only in (None, "belt"):
        belt()


if __name__ == "__main__":
    main()
