"""Both arms of a robot pick and place at once: ``python -m benchmarks.two_arms [--episodes 20] [--robot lift2]``.

Every second episode has a tray for each arm, the others one tray for both, for which one arm has to wait. A robot
without such a scene has a bin for each arm, on its table. The output has the number of successes, the smallest distance
of the arms (MuJoCo, on the URDF's solids), their waiting time and, from the feedback, its reasons.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from handiwork_msgs.srv import ResetWorld
from sensor_msgs.msg import JointState

from handiwork_cli.processes.progress import progress
from handiwork_cli.stack.demo_cells import scene_of
from handiwork_cli.stack.stack import Stack
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_ros.actions.task_report import TaskFeedback
from handiwork_ros.rclpy_support.qos import LATEST

from .arm_gap import ArmGap, Gap

ROBOTS = Path(__file__).parents[2] / "src" / "robot_description" / "robots"
SCENES = Path(__file__).parents[2] / "config" / "scenes"
ARMS = ("left_arm", "right_arm")
RANGES = ([0.65, 0.75], [0.25, 0.35])
"""Ranges in a tray that both may use in which each arm places, as ratios of its sides."""
MIDDLE = [0.4, 0.6]
TASK = """
seed: {seed}
skills:
  - {robot}:
    - left_arm:
      - {{name: pick, object: left_cube}}
      - {{name: place, container: {left}, y_ratio_range: {left_range}, {down}}}
      - {{name: home}}
      right_arm:
      - {{name: pick, object: right_cube}}
      - {{name: place, container: {right}, y_ratio_range: {right_range}, {down}}}
      - {{name: home}}
"""


class Waits:
    """Wall time in which the feedback of an arm said that it waits."""

    def __init__(self) -> None:
        self.total_s, self.reasons, self._since = 0.0, set[str](), dict[str, float]()

    def note(self, feedback: TaskFeedback) -> None:
        """Count one feedback.

        Args:
            feedback: The feedback of a task.
        """
        now_s, arm = time.monotonic(), feedback.arm
        if arm in self._since:
            self.total_s += now_s - self._since.pop(arm)
        if feedback.progress.stage.startswith("waiting for"):
            self._since[arm] = now_s
            self.reasons.add(f"{arm} {feedback.progress.stage}")


def task(robot: Robot, seed: int, *, has_trays: bool, is_shared: bool) -> str:
    """Return the task file of an episode. The hands come from above.

    Args:
        robot: The robot.
        seed: Seed of the task.
        has_trays: The scene has trays, otherwise bins.
        is_shared: Both arms use the same tray.
    """
    gripper = robot.arm(ARMS[0]).gripper
    assert gripper is not None
    kind = "tray" if has_trays else "bin"
    left, right = (kind, kind) if is_shared else (f"left_{kind}", f"right_{kind}")
    ranges = RANGES if has_trays else (MIDDLE, MIDDLE)
    return TASK.format(
        seed=seed,
        robot=robot.name,
        left=left,
        right=right,
        left_range=ranges[0],
        right_range=ranges[1],
        down=f"filter_{'xyz'[gripper.ee_axis]}_dir: [downward, 140]",
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robot", default="lift2")
    parser.add_argument("--scene", default="", help="default: <robot>_two_arms, or the robot's table")
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--real-time-factor", default="2")
    options = parser.parse_args()
    robot = load_robot(ROBOTS / options.robot)
    own = f"{options.robot}_two_arms"
    scene = options.scene or (own if (SCENES / f"{own}.yaml").is_file() else scene_of(options.robot))
    has_trays = any(item.name == "tray" for item in load_scene(SCENES / f"{scene}.yaml").objects)
    arguments = {
        "robot": options.robot,
        "scene": scene,
        "real_time_factor": options.real_time_factor,
        "conditions": "conditions_two_arms",
    }
    gaps, good, nearest = ArmGap(robot, *ARMS), 0, Gap()
    samples: list[dict[str, float]] = []
    with Stack(arguments, write=lambda line: print(line, file=sys.stderr, flush=True)) as stack:
        stack.wait_active()

        def take(message: JointState) -> None:
            samples.append(dict(zip(message.name, message.position, strict=True)))

        stack.client.node.create_subscription(JointState, "joint_states", take, LATEST)
        for index in progress(range(options.episodes), "two arms"):
            seed, is_shared = options.seed + index, has_trays and index % 2 == 1
            reset = ResetWorld.Request(seed=seed, randomize=True)
            answer = stack.call(ResetWorld, "sim/reset", reset).outcome
            assert answer.code == answer.OK, answer.message
            text = task(robot, seed, has_trays=has_trays, is_shared=is_shared)
            samples.clear()
            waits = Waits()
            report = stack.client.run_task(text, source=f"episode {index}", on_feedback=waits.note)
            near = min((gaps.at(q) for q in samples[::2]), key=lambda gap: gap.distance_m, default=Gap())
            nearest = min(near, nearest, key=lambda gap: gap.distance_m)
            good += report.ok
            busy_s = {arm: sum(e.report.duration_s for e in report.entries if e.arm == arm) for arm in ARMS}
            print(
                f"{index:2} seed {seed} {'shared' if is_shared else 'apart '} {report.outcome.code.name}"
                f" {report.duration_s:5.1f} s, arms {' + '.join(f'{s:.1f}' for s in busy_s.values())} s,"
                f" waited {waits.total_s:4.1f} s, nearest {1e3 * near.distance_m:4.0f} mm {near.a} {near.b}"
                f" {report.outcome.message}",
                *(f"   {reason}" for reason in sorted(waits.reasons)),
                sep="\n",
                flush=True,
            )
    print(f"{good} of {options.episodes} good, never nearer than {1e3 * nearest.distance_m:.1f} mm", end="")
    print(f" ({nearest.a} - {nearest.b})")
    return 0 if good >= 0.98 * options.episodes and nearest.distance_m > 0.0 else 1


if __name__ == "__main__":
    np.set_printoptions(precision=3)
    sys.exit(main())
