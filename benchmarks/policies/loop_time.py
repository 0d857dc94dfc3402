"""How long the loop of a policy takes from an observation to its command, and how soon a silent server brakes the arm.

The world is the simulation of ``handiwork evaluate``, which waits, so that only the work itself is timed; the server is
a process of its own, and observations go to it with two pictures through a websocket. ROS has no part in it.

    python -m benchmarks.policies.loop_time --episodes 10
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import os
import time
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handiwork_cli.commands.files.export_usd import scene_file
from handiwork_cli.commands.inspect.show_robot import robot_folder
from handiwork_core.model.geometry import Array
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_data.episodes.settings import read_task_file
from handiwork_data.policies.episode import PolicyEpisode, PolicySetup
from handiwork_policy.actions.spec import GripperSpace
from handiwork_policy.loop.settings import CameraInput, PolicySettings
from handiwork_policy.protocol.client import PolicyClient
from handiwork_policy.protocol.server import FunctionPolicy, PolicyServer
from skill_server.policies.pictures import resized

SIDE = 224
CHUNK = 8
KEYS = ("front", "wrist")
NEVER = "object_in_container(object=cube, container=bin)"
SWING_RAD = 0.03
"""Change of the first joint from action to action of the stub."""
SLOWER = 1e-9


def serve(pipe: Connection) -> None:
    """Serve the stub: the first joint swings; its answers have the time that the function took, ms.

    Args:
        pipe: Gets the address.
    """

    class Stub(FunctionPolicy):
        def infer(self, observation: Any) -> dict[str, Any]:  # noqa: ANN401
            begun_s = time.perf_counter()
            q = np.asarray(observation["observation/state"], dtype=np.float64)[:7]
            rows = np.repeat([q], CHUNK, axis=0)
            rows[:, 0] += SWING_RAD * np.arange(1, CHUNK + 1)
            brightness = sum(float(observation[key].mean()) for key in KEYS)
            spent_ms = 1e3 * (time.perf_counter() - begun_s)
            return {"actions": rows, "brightness": brightness, "policy_ms": spent_ms}

    server = PolicyServer(Stub(lambda _observation: None))
    pipe.send(server.address)
    server.run()


@dataclass
class Images:
    """Pictures from images in memory, as those that a node has received.

    Attributes:
        width: Width of an image, pixels.
        height: Its height, pixels.
        begun_s: Moment at which the last observation was begun, s of steady time.
    """

    width: int
    height: int
    begun_s: float = 0.0
    _images: list[NDArray[np.uint8]] = field(default_factory=list)

    def __post_init__(self) -> None:
        rng = np.random.default_rng(0)
        self._images = [rng.integers(0, 256, (self.height, self.width, 3), dtype=np.uint8) for _ in KEYS]

    def pictures(self) -> dict[str, NDArray[np.uint8]]:
        """See ``PictureSource``."""
        is_small = (self.width, self.height) == (SIDE, SIDE)
        made = [one if is_small else resized(one, SIDE, SIDE) for one in self._images]
        return dict(zip(KEYS, made, strict=True))


class TimedClient:
    """The client of the stub, which keeps how long the stub itself computed.

    Args:
        client: The client.
    """

    def __init__(self, client: PolicyClient) -> None:
        self._client, self.policy_ms = client, 0.0
        self.round_trips_ms = list[float]()

    def metadata(self) -> Any:  # noqa: ANN401
        """See ``Policy``."""
        return self._client.metadata()

    def infer(self, observation: Any) -> Any:  # noqa: ANN401
        """See ``Policy``.

        Args:
            observation: The observation.
        """
        begun_s = time.perf_counter()
        found = self._client.infer(observation)
        self.policy_ms = float(found["policy_ms"])
        self.round_trips_ms.append(1e3 * (time.perf_counter() - begun_s) - self.policy_ms)
        return found

    def reset(self) -> None:
        """See ``Policy``."""
        self._client.reset()


def setup(seconds: float) -> PolicySetup:
    """Return the setup of an episode in which nothing succeeds.

    Args:
        seconds: Its length, s of the world.
    """
    task = read_task_file(Path("config/tasks/tidy_episodes.yaml"))
    task = replace(task, settings=replace(task.settings, settle_s=0.0))
    settings = PolicySettings(
        until=NEVER, time_limit=seconds, chunk=CHUNK, execute_steps=1, gripper=GripperSpace.NONE
    )
    return PolicySetup(
        task, load_robot(robot_folder("fr3")), load_scene(scene_file("tabletop")), settings, "0"
    )


def time_steps(made: PolicyEpisode, client: TimedClient, images: Images) -> tuple[list[float], list[float]]:
    """Run an episode; return the times from observation to command beside inference, and those of the guard, ms.

    Args:
        made: The episode, which asks in every step.
        client: Its policy.
        images: Its pictures.
    """
    runner, port, whole, guarded = made.runner, made.port, list[float](), list[float]()
    port.__dict__["pictures"] = images.pictures
    runner.settings = replace(runner.settings, cameras=tuple(CameraInput(key, camera=key) for key in KEYS))
    runner.prepare(made.drawn.scene.world_T_base)
    ask, send, step, begun_s = runner._ask, port.send, runner.guard.step, [0.0]

    def timed_ask(number: int) -> None:
        begun_s[0] = time.perf_counter()
        ask(number)

    def timed_step(*given: Any) -> Any:  # noqa: ANN401
        guard_s = time.perf_counter()
        found = step(*given)
        guarded.append(1e3 * (time.perf_counter() - guard_s))
        return found

    def timed_send(q: Array, v: Array) -> str:
        found = send(q, v)
        if begun_s[0]:
            whole.append(1e3 * (time.perf_counter() - begun_s[0]) - client.policy_ms)
            begun_s[0] = 0.0
        return found

    runner.__dict__.update(_ask=timed_ask)
    runner.guard.__dict__.update(step=timed_step)
    port.__dict__.update(send=timed_send)
    runner.run()
    return whole, guarded


def brake_delays(count: int) -> list[float]:
    """Return how long after the first step without a command the arm becomes slower, s of the world.

    Args:
        count: Number of servers that become silent.
    """
    delays = list[float]()
    for number in range(count):
        asked = [0]

        def act(observation: dict[str, Any], limit: int = 3 + number % 4, asked: list[int] = asked) -> Array:
            asked[0] += 1
            if asked[0] > limit:
                raise TimeoutError
            q = np.asarray(observation["observation/state"], dtype=np.float64)[:7]
            return np.repeat([q], CHUNK, axis=0) + SWING_RAD * np.arange(1, CHUNK + 1)[:, None] * np.eye(7)[0]

        made = _silent(number, act)
        delays.append(made)
    return delays


def _silent(number: int, act: Any) -> float:  # noqa: ANN401
    """Run an episode whose server answers a while, then never; return the time from the missed step to the brake, s."""
    base = setup(3.0)
    settings = replace(base.settings, execute_steps=CHUNK, server_timeout=1.0)
    made = PolicyEpisode(replace(base, settings=settings), number, FunctionPolicy(act))
    inference, runner = made.runner.inference, made.runner
    ask, missed_s, times = inference.ask, list[float](), list[tuple[float, float]]()

    def silent_ask(step: int, observation: Any) -> None:  # noqa: ANN401
        ask(step, observation)
        answer = inference.__dict__["_answer"]
        if answer is not None and answer.fault is not None:
            inference.__dict__["_left"] = 10**9

    inference.__dict__["ask"] = silent_ask
    runner.prepare(made.drawn.scene.world_T_base)
    brake, controller = runner.guard.brake, made.cell.sim.arms[made.port.arm.name].controller

    def noted(motion: Any) -> Any:  # noqa: ANN401
        missed_s.append(made.cell.now_s())
        return brake(motion)

    runner.guard.__dict__["brake"] = noted
    advance = made.cell.sim.advance

    def watched(steps: int) -> None:
        for _ in range(steps):
            advance(1)
            times.append((made.cell.now_s(), float(np.abs(controller.reference.velocity).max())))

    made.cell.sim.__dict__["advance"] = watched
    runner.run()
    after = [(at, speed) for at, speed in times if at >= missed_s[0] - 1e-9]
    slower = next(at for (_, before), (at, speed) in itertools.pairwise(after) if speed < before - SLOWER)
    return slower - missed_s[0]


def main() -> None:
    """Time the loop, and print the percentiles."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--episodes", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=8.0, help="length of an episode [s of the world]")
    parser.add_argument("--image", type=int, nargs=2, default=(640, 480), metavar=("WIDTH", "HEIGHT"))
    parser.add_argument("--silent", type=int, default=8, help="servers that become silent")
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    server = context.Process(target=serve, args=(there,), daemon=True)
    server.start()
    address, images = here.recv(), Images(*options.image)
    client = TimedClient(PolicyClient(address))
    whole, guarded = list[float](), list[float]()
    base = setup(options.seconds)
    for number in range(options.episodes):
        some = time_steps(PolicyEpisode(base, number, client), client, images)
        whole += some[0]
        guarded += some[1]
    for name, times in (
        ("observation to command beside the policy's own time", whole),
        ("of it the way to the server and back", client.round_trips_ms),
        ("of it the guard", guarded),
    ):
        p50, p95, p99 = np.percentile(times, [50, 95, 99])
        print(
            f"{name}: {len(times)} times, p50 {p50:.2f} ms, p95 {p95:.2f}, p99 {p99:.2f}, greatest {max(times):.2f}"
        )
    delays = brake_delays(options.silent)
    print(
        f"silent server: the arm becomes slower {min(delays):.3f} to {max(delays):.3f} s after the missed step"
    )
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors")
    server.terminate()


if __name__ == "__main__":
    main()
