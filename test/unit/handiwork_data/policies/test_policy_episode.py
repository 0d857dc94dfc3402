"""Episodes of policies in lock-step: bad servers, refusals, verdicts."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.policies.wild import wild

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.geometry import Array
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_data.episodes.settings import read_task_file
from handiwork_data.policies.episode import PolicyEpisode, PolicySetup
from handiwork_policy.actions.spec import ActionSpace, GripperSpace
from handiwork_policy.guard.settings import GuardSettings, OnCollision
from handiwork_policy.loop.settings import CameraInput, PolicySettings
from handiwork_policy.protocol.client import PolicyClient
from handiwork_policy.protocol.errors import PolicyError
from handiwork_policy.protocol.policy import Policy
from handiwork_policy.protocol.server import FunctionPolicy, PolicyServer
from handiwork_policy.verdicts import result as ends
from sim_bridge.cameras.renderer import choose_library

ROOT = Path(__file__).resolve().parents[4]
NEVER = "object_in_container(object=cube, container=bin)"
DOWN = np.array([0.0, 1.9, 0.0, 0.0, 0.0, 0.0, 0.0])


@pytest.fixture(scope="module")
def setup() -> PolicySetup:
    task = read_task_file(ROOT / "config/tasks/tidy_episodes.yaml")
    task = replace(task, settings=replace(task.settings, settle_s=0.0))
    robot = load_robot(ROOT / "src/robot_description/robots/fr3")
    settings = PolicySettings(until=NEVER, time_limit=1.0, gripper=GripperSpace.NONE)
    return PolicySetup(task, robot, load_scene(ROOT / "config/scenes/tabletop.yaml"), settings, "0")


def toward(change: Array, count: int = 8) -> FunctionPolicy:
    """A policy that asks for the measured joints and a change."""

    def act(observation: dict[str, Any]) -> Array:
        return np.repeat([observation["observation/state"][:7] + change], count, axis=0)

    return FunctionPolicy(act)


def episode(setup: PolicySetup, policy: Policy, **changes: Any) -> PolicyEpisode:
    return PolicyEpisode(replace(setup, settings=replace(setup.settings, **changes)), 0, policy)


@pytest.mark.parametrize(
    ("count", "lag_steps", "shift"), [(8, 0.5, 0), (8, 2.6, 2), (2, 2.6, 1), (1, 2.6, 0)]
)
def test_a_chunk_begins_where_the_observed_arm_was(
    setup: PolicySetup, count: int, lag_steps: float, shift: int
) -> None:
    made = episode(setup, toward(np.zeros(7), count), execute_steps=1)
    step_s, runner, taken = 1.0 / made.settings.rate_hz, made.runner, list[int]()
    made.port.lag_s = lambda stamp_s: lag_steps * step_s  # type: ignore[method-assign]
    take = runner._plan.take

    def watched(chunk: Any, observed: int, step: int) -> int:
        taken.append(step - 1 - observed)
        return take(chunk, observed, step)

    runner._plan.take = watched  # type: ignore[method-assign]
    made.run()
    assert taken[0] == 0, "the arm is at rest before the first chunk"
    assert set(taken[1:]) == {shift}, "one action is left of each chunk"


def test_a_late_server_brakes_the_arm_and_the_run_goes_on(setup: PolicySetup) -> None:
    made = episode(replace(setup, delay_steps=12), toward(0.1 * np.ones(7)), execute_steps=8)
    found = made.run()
    assert found.end == ends.TIME_OVER and found.chunks >= 2
    assert found.late_steps >= 8, "a chunk of 8 with a delay of 12 leaves steps without a command"
    assert np.abs(made.cell.sim.measured("fr3_arm") - made.runner._motion.q).max() < 0.01


def test_a_silent_server_ends_the_run_with_the_arm_at_rest(setup: PolicySetup) -> None:
    made = episode(replace(setup, delay_steps=1000), toward(0.1 * np.ones(7)), server_timeout=0.2)
    found = made.run()
    assert found.end == ends.SERVER_SILENT and found.duration_s < 1.0
    assert "sent no answer within 0.2 s" in found.message
    assert np.abs(made.runner._motion.v).max() < 1e-6


def test_an_error_text_of_the_server_ends_the_run_with_its_sentence(setup: PolicySetup) -> None:
    asked = threading.Event()

    def act(observation: dict[str, Any]) -> Array:
        if asked.is_set():
            raise RuntimeError("the weights are gone")
        asked.set()
        return np.repeat([observation["observation/state"][:7]], 4, axis=0)

    with PolicyServer(FunctionPolicy(act)) as server:
        client = PolicyClient(server.address)
        try:
            found = episode(setup, client, execute_steps=4).run()
        finally:
            client.close()
    assert found.end == ends.SERVER_FAULT and not found.success
    assert "reports: RuntimeError: the weights are gone; read its log" in found.message


def test_refusals_of_the_guard_end_the_run_and_are_counted(setup: PolicySetup) -> None:
    guard = GuardSettings(on_collision=OnCollision.REFUSE)
    found = episode(setup, toward(DOWN), guard=guard, time_limit=4.0).run()
    assert found.end == ends.GUARD_REFUSED and found.guard["collision"] == 1
    assert "fr3/" in found.message and not [one for one in found.events if one.kind == "bumped"]


def test_what_the_guard_changed_is_counted_by_kind(setup: PolicySetup) -> None:
    found = episode(setup, toward(DOWN)).run()
    assert found.end == ends.TIME_OVER
    assert 0 < found.guard_changed <= found.steps and found.guard["velocity"] > 0
    assert sum(found.guard_reasons.values()) >= found.guard_changed


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda _o: np.full((4, 7), np.nan), "actions[0, 0] is nan"),
        (lambda _o: np.zeros((4, 6)), "actions has the shape [4, 6]"),
        (lambda _o: [["a"]], "actions are no numbers"),
    ],
)
def test_a_bad_first_answer_is_refused_before_anything_moves(
    setup: PolicySetup, act: Callable[[Any], Any], words: str
) -> None:
    made = episode(setup, FunctionPolicy(act))
    begun_s = made.cell.now_s()
    with pytest.raises(PolicyError) as refused:
        made.run()
    assert words in str(refused.value) and made.cell.now_s() == begun_s


def test_a_condition_that_holds_ends_the_run_with_success(setup: PolicySetup) -> None:
    until = "not object_in_container(object=cube, container=bin)"
    found = episode(setup, toward(np.zeros(7)), until=until, subtasks=(NEVER,)).run()
    assert found.end == ends.SUCCESS and found.success and found.final == 1.0
    assert found.confirmed_s is not None and found.first_true_s is not None
    assert found.first_true_s <= found.confirmed_s <= found.duration_s
    assert [one.first_true_s for one in found.subtasks] == [None]


def test_an_arm_that_is_held_at_full_speed_does_not_end_the_run(setup: PolicySetup) -> None:
    """With a larger lead the next point was a jump for the controller, which refused it and ended the run."""
    made = episode(setup, toward(np.array([0, 0, 0, 0, 0, 0, -3.0])), time_limit=1.0)
    cell, sim, arm = made.cell, made.cell.sim, made.port.arm
    look, measure, kept, fastest = cell.snapshot, sim.measured, dict[str, Array](), [0.0]
    held_s = cell.now_s() + 0.55

    def measured(name: str) -> Array:
        if cell.now_s() < held_s:
            kept["q"] = measure(name).copy()
            fastest[0] = float(np.abs(sim.arms[name].controller.reference.velocity).max())
        return kept["q"]

    def snapshot() -> Any:
        world = look()
        place = dict(zip(arm.joint_names, measured(arm.name).tolist(), strict=True))
        return replace(world, joints=replace(world.joints, position={**world.joints.position, **place}))

    sim.measured, cell.snapshot = measured, snapshot  # type: ignore[method-assign, assignment]
    found = made.run()
    assert found.end == ends.TIME_OVER, found.message
    assert fastest[0] > 4.5, "the arm was too slow to be a test of the lead"


def test_a_wild_policy_never_meets_the_safety_layer(setup: PolicySetup) -> None:
    """It stopped this arm: the stream of points overshot the references that the guard had checked."""
    number = 62
    arm = next(iter(setup.robot.arms.values()))
    settings = replace(
        setup.settings, action_space=ActionSpace.EE_POSE, gripper=GripperSpace.WIDTH, time_limit=3.0
    )
    policy = wild(setup.robot, arm, ActionSpace.EE_POSE, number)
    made = PolicyEpisode(replace(setup, settings=settings), number, policy)
    found, limits = made.run(), made.runner.guard.limits
    columns = made.recorder.columns()
    q = columns["joint_position"][:, [made.recorder.joints.index(name) for name in arm.joint_names]]
    assert found.end == ends.TIME_OVER, found.message
    assert np.abs(columns["joint_velocity"]).max() > 3.0, "the arm was too slow for a test"
    assert (q > limits.low - 0.01).all() and (q < limits.high + 0.01).all()
    assert found.guard["position"] > 0


def test_the_arm_follows_the_curve_that_the_guard_has_checked(setup: PolicySetup) -> None:
    made = episode(setup, toward(np.array([1.0, 0, 0, 0.5, 0, 0, -2.0])), time_limit=1.0)
    send, errors, step_s = made.port.send, list[float](), 1.0 / made.settings.rate_hz
    controller, before = made.cell.sim.arms["fr3_arm"].controller, list[Array]()

    def watched(q: Array, v: Array) -> str:
        if before:
            errors.append(float(np.abs(controller.reference.position - before[-1]).max()))
        before.append(q[0] - 0.5 * step_s * v[0])
        return send(q, v)

    made.port.send = watched  # type: ignore[method-assign]
    assert made.run().end == ends.TIME_OVER
    assert len(errors) > 20 and max(errors) < 1e-6


def test_an_end_effector_that_goes_down_and_up_follows_its_deltas(setup: PolicySetup) -> None:
    rows = np.zeros((8, 6))
    rows[:, 2] = -0.004
    made = episode(setup, FunctionPolicy(lambda _o: rows), action_space=ActionSpace.EE_DELTA, time_limit=0.6)
    start = made.cell.sim.measured("fr3_arm").copy()
    found = made.run()
    here = made.runner.guard._kinematics
    sunk = here.pose_and_jacobian(start)[0][2, 3] - here.pose_and_jacobian(made.runner._motion.q)[0][2, 3]
    assert found.end == ends.TIME_OVER and 0.03 < sunk < 0.07


def test_bad_settings_are_refused_with_the_field(setup: PolicySetup) -> None:
    with pytest.raises(ConfigError, match="rate_hz is 30; in a simulation in lock-step write 1, 2, 5"):
        episode(setup, toward(np.zeros(7)), rate_hz=30.0)
    made = episode(setup, toward(np.zeros(7)), guard=GuardSettings(may_touch=("cub",)))
    with pytest.raises(PolicyError, match="may_touch has 'cub'; the known objects are"):
        made.run()


@pytest.mark.slow
@pytest.mark.processes
def test_pictures_have_the_size_that_the_policy_wants() -> None:
    """In a process of its own: MuJoCo loads the library that draws when it is imported."""
    try:
        library = choose_library(os.environ)
    except ValueError as error:
        pytest.skip(str(error))
    done = subprocess.run(
        [sys.executable, "-c", f"import runpy; runpy.run_path({__file__!r})['look_at_pictures']()"],
        env={**os.environ, "MUJOCO_GL": library, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr, "what draws is closed in order"


def look_at_pictures() -> None:
    task = read_task_file(ROOT / "config/tasks/tidy_episodes.yaml")
    task = replace(task, settings=replace(task.settings, settle_s=0.0))
    robot, scene = (
        load_robot(ROOT / "src/robot_description/robots/fr3"),
        load_scene(ROOT / "config/scenes/cameras.yaml"),
    )
    settings = PolicySettings(until=NEVER, time_limit=0.2, gripper=GripperSpace.NONE)
    setup = PolicySetup(task, robot, scene, settings, "0")
    seen = list[Array]()

    def act(observation: dict[str, Any]) -> Array:
        seen.append(observation["front"])
        return np.repeat([observation["observation/state"][:7]], 4, axis=0)

    cameras = (CameraInput("front", camera=scene.cameras[0].name, width=64, height=48),)
    found = episode(setup, FunctionPolicy(act), cameras=cameras).run()
    assert found.end == ends.TIME_OVER and found.chunks == len(seen)
    assert seen[0].shape == (48, 64, 3) and seen[0].dtype == np.uint8
    assert float(seen[0].std()) > 5.0, "a picture of one colour shows nothing"
    strength = seen[0].max(axis=2).astype(int) - seen[0].min(axis=2)
    assert strength.max() > 60, "the bin is blue and the table brown"
    with pytest.raises(ConfigError, match="no camera 'nowhere'"):
        episode(setup, FunctionPolicy(act), cameras=(CameraInput("a", camera="nowhere"),))


def test_each_part_of_the_state_may_have_a_key_of_its_own(setup: PolicySetup) -> None:
    seen = list[dict[str, Any]]()

    def act(observation: dict[str, Any]) -> Array:
        seen.append(observation)
        return np.repeat([observation["joints"]], 8, axis=0)

    made = episode(
        setup, FunctionPolicy(act), state=("joint_position", "gripper_width"), state_keys=("joints", "hand")
    )
    assert made.run().end == ends.TIME_OVER
    assert set(seen[0]) == {"joints", "hand", "prompt"}
    assert (seen[0]["joints"].shape, seen[0]["hand"].shape) == ((7,), (1,))
    assert seen[0]["joints"].dtype == np.float32


def test_keys_of_the_state_must_be_as_many_as_its_parts() -> None:
    with pytest.raises(
        ValueError, match=r"state_keys has 1 keys, and state 2 parts; write a key for each part"
    ):
        PolicySettings(until=NEVER, state_keys=("joints",))
    with pytest.raises(ValueError, match="key 'prompt' is used twice"):
        PolicySettings(until=NEVER, state_keys=("joints", "prompt"))
