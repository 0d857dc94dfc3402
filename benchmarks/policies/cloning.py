"""A policy cloned from generated episodes: trained on states, served by openpi's protocol.

    handiwork generate benchmarks/policies/lift_cube.yaml --episodes 0:1000 --out out/lift
    python -m benchmarks.policies.cloning train out/lift --episodes 0:1000 --out out/lift_1000.npz
    python -m benchmarks.policies.cloning serve out/lift_1000.npz --port 8000
    handiwork evaluate benchmarks/policies/lift_cube.yaml --policy ws://localhost:8000 --episodes 100000:100200

The network gets joint positions, opening and the poses of hand and cube, and answers with the commands of the next
steps. Each time that it learns a sample, the arm is displaced, with its hand and what that holds: so the network learns
to come back to the demonstrated path, and to stay at its end.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm, trange

from handiwork import DatasetFolder
from handiwork_cli.commands.files.export_usd import scene_file
from handiwork_cli.commands.inspect.show_robot import robot_folder
from handiwork_core.admittance.arm_kinematics import ArmKinematics
from handiwork_core.contracts.predicate import Truth
from handiwork_core.model.geometry import Array
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_data.dataset.generate import read_range
from handiwork_policy.protocol.server import FunctionPolicy, PolicyServer

STATE = ("joint_position", "gripper_width", "ee_pose", "object_pose(cube)")
KEY = "observation/state"
OBJECT, HELD = "cube", "object_grabbed(object=cube)"
JOINTS, HAND, CUBE = slice(0, 7), slice(8, 15), slice(15, 22)
CHUNK = 16
EXECUTED = 8
REST = 50
"""Copies of the last sample of each demonstration, from which the policy learns to stay there."""
LEAST_STD = 1e-3
RATE = 1e-3
BETA = (0.9, 0.999)
ROUND = 1e-8


class Samples(NamedTuple):
    """Samples of demonstrations.

    Attributes:
        states: States, (n, 22): see ``STATE``; rad, m, then poses as x, y, z, m, and a quaternion w, x, y, z.
        chunks: Commands of the steps after each, (n, CHUNK, 8): joints, rad, then the opening, m.
        jacobians: Jacobian of the hand in ``world``, (n, 6, 7), m/rad and rad/rad.
        held: 1 where the hand holds the cube, else 0, (n,).
        resting: 1 for the copies of the last sample, else 0, (n,).
    """

    states: Array
    chunks: Array
    jacobians: Array
    held: Array
    resting: Array


def samples(folder: Path, numbers: Sequence[int], workers: int) -> Samples:
    """Return samples of the successful episodes of a folder.

    Args:
        folder: A folder of ``handiwork generate``.
        numbers: Numbers of the episodes.
        workers: Number of processes that read.
    """
    wanted = set(numbers)
    there = [number for number in DatasetFolder(folder).episodes() if number in wanted]
    parts = [there[i::workers] for i in range(workers)]
    with ProcessPoolExecutor(workers) as pool:
        read = list(tqdm(pool.map(_read, itertools.repeat(folder), parts), total=workers, desc="read"))
    found = [one for one in read if one is not None]
    if not found:
        raise SystemExit(f"{folder} has no successful episode of {len(wanted)} wanted; generate some")
    return joined(found)


def _read(folder: Path, numbers: Sequence[int]) -> Samples | None:
    data, rows = DatasetFolder(folder), list[Samples]()
    robot, scene = load_robot(robot_folder("fr3")), load_scene(scene_file("tabletop"))
    arm = next(iter(robot.arms.values()))
    base = scene.world_T_base @ link_poses(robot, {}, (arm.base_link,))[arm.base_link]
    turn, kinematics = np.kron(np.eye(2), base.matrix()[:3, :3]), ArmKinematics(robot, arm)
    for number in numbers:
        episode = data.read(number)
        columns, meta = episode.columns, episode.meta
        if not meta.success:
            continue
        index = [meta.joints.index(name) for name in arm.joint_names]
        measured = columns["joint_position"][:, index]
        poses = columns["ee_pose"][:, 0], columns["object_pose"][:, meta.objects.index(OBJECT)]
        state = np.concatenate([measured, columns["gripper_width"], *map(signed, poses)], axis=1)
        # The first action of a chunk is for the end of the step that begins with the state.
        command = np.concatenate([columns["joint_command"][:, index], columns["gripper_command"]], axis=1)
        ahead = np.minimum(np.arange(len(command))[:, None] + 1 + np.arange(CHUNK), len(command) - 1)
        jacobian = np.array([turn @ kinematics.pose_and_jacobian(q)[1] for q in measured])
        held = (columns["condition_value"][:, meta.conditions.index(HELD)] == Truth.TRUE).astype(np.float64)
        again = np.append(np.arange(len(state)), np.full(REST, len(state) - 1))
        resting = (np.arange(len(again)) >= len(state)).astype(np.float64)
        made = [one[again] for one in (state, command[ahead], jacobian, held)]
        rows.append(Samples._make([*made, resting]))
    if not rows:
        return None
    return joined(rows)


def joined(parts: Sequence[Samples]) -> Samples:
    """Return the samples of all parts, in single precision.

    Args:
        parts: The parts.
    """
    columns = [[getattr(one, name) for one in parts] for name in Samples._fields]
    return Samples._make(np.concatenate(column).astype(np.float32) for column in columns)


def signed(poses: Array) -> Array:
    """Return poses whose quaternions have w of at least 0, as the state layout of a policy has them.

    Args:
        poses: Poses, (n, 7).
    """
    sign = np.where(poses[:, 3:4] < 0.0, -1.0, 1.0)
    return np.concatenate([poses[:, :3], sign * poses[:, 3:]], axis=1)


def displaced(xp: Any, rng: Any, states: Any, jacobians: Any, held: Any, noise: Any) -> Any:  # noqa: ANN401
    """Return states whose arm is displaced, together with its hand and what that holds.

    Args:
        xp: Module of the arrays: numpy or cupy.
        rng: Its generator.
        states: States, (n, 22).
        jacobians: See ``Samples``.
        held: See ``Samples``.
        noise: Largest standard deviation of the joints' displacement, (n, 1), rad; each sample draws its own below it.
    """
    count = len(states)
    spread = noise * rng.random((count, 1), dtype=np.float32)
    change = spread * rng.standard_normal((count, 7), dtype=np.float32)
    twist = (jacobians @ change[:, :, None])[:, :, 0]
    made = states.copy()
    made[:, JOINTS] += change
    arm = states[:, CUBE][:, :3] - states[:, HAND][:, :3]
    made[:, HAND] = _moved(xp, states[:, HAND], twist[:, :3], twist[:, 3:])
    at_cube = (twist[:, :3] + xp.cross(twist[:, 3:], arm)) * held[:, None]
    made[:, CUBE] = _moved(xp, states[:, CUBE], at_cube, twist[:, 3:] * held[:, None])
    return made


def _moved(xp: Any, poses: Any, way: Any, turn: Any) -> Any:  # noqa: ANN401
    """Return poses after small displacements, m, and rotations, rad, in the axes of the world."""
    w, v = poses[:, 3:4], poses[:, 4:]
    scalar = w - 0.5 * (turn * v).sum(axis=1, keepdims=True)
    vector = v + 0.5 * (w * turn + xp.cross(turn, v))
    whole = xp.concatenate([scalar, vector], axis=1)
    whole /= xp.sqrt((whole**2).sum(axis=1, keepdims=True)) * xp.where(scalar < 0.0, -1.0, 1.0)
    return xp.concatenate([poses[:, :3] + way, whole], axis=1)


def features(xp: Any, states: Any) -> Any:  # noqa: ANN401
    """Return what the network gets: rotations as matrices, since a hand that points down has quaternions of both signs.

    Args:
        xp: Module of the arrays: numpy or cupy.
        states: States, (n, 22).
    """
    hand, cube = states[:, HAND], states[:, CUBE]
    turns = [_matrix(xp, one[:, 3:]) for one in (hand, cube)]
    return xp.concatenate(
        [states[:, :8], hand[:, :3], cube[:, :3], cube[:, :3] - hand[:, :3], *turns], axis=1
    )


def _matrix(xp: Any, wxyz: Any) -> Any:  # noqa: ANN401
    """Return the first two columns of the rotation matrices of quaternions, (n, 6)."""
    w, x, y, z = (wxyz[:, i] for i in range(4))
    first = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)
    second = 2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)
    return xp.stack([*first, *second], axis=1)


class Network:
    """A network of layers with rectifiers, in numpy or cupy.

    Args:
        arrays: Weights and biases in turn, then mean and deviation of inputs and of outputs.
    """

    def __init__(self, arrays: list[Any]) -> None:
        *self.layers, self.mean, self.std, self.out_mean, self.out_std = arrays

    @property
    def arrays(self) -> list[Any]:
        """What it was made from."""
        return [*self.layers, self.mean, self.std, self.out_mean, self.out_std]

    def __call__(self, states: Array) -> Array:
        """Return chunks of actions, (n, CHUNK, 8).

        Args:
            states: States, (n, 22).
        """
        rows = (features(np, states) - self.mean) / self.std
        found = self.forward(rows)[-1] * self.out_std + self.out_mean
        return np.asarray(found.reshape(len(states), CHUNK, -1))

    def forward(self, rows: Any) -> list[Any]:  # noqa: ANN401
        """Return the values behind each layer, the inputs first.

        Args:
            rows: Normalised states.
        """
        found = [rows]
        last = len(self.layers) // 2 - 1
        for i in range(last + 1):
            values = found[-1] @ self.layers[2 * i] + self.layers[2 * i + 1]
            found.append(values if i == last else values * (values > 0.0))
        return found

    def gradients(self, found: list[Any], error: Any) -> list[Any]:  # noqa: ANN401
        """Return the gradients of weights and biases.

        Args:
            found: See ``forward``.
            error: Gradient of the loss at the outputs.
        """
        made = list[Any]()
        for i in reversed(range(len(self.layers) // 2)):
            made += [error.sum(axis=0), found[i].T @ error]
            error = (error @ self.layers[2 * i].T) * (found[i] > 0.0)
        return made[::-1]


class Adam:
    """The optimiser of a network.

    Args:
        xp: Module of the arrays.
        network: The network, whose layers it changes.
    """

    def __init__(self, xp: Any, network: Network) -> None:  # noqa: ANN401
        self._xp, self._network, self._count = xp, network, 0
        self._first = [xp.zeros_like(one) for one in network.layers]
        self._second = [xp.zeros_like(one) for one in network.layers]

    def step(self, gradients: list[Any], rate: float) -> None:
        """Change the layers.

        Args:
            gradients: Their gradients.
            rate: Rate of learning.
        """
        self._count += 1
        for i, gradient in enumerate(gradients):
            self._first[i] = BETA[0] * self._first[i] + (1.0 - BETA[0]) * gradient
            self._second[i] = BETA[1] * self._second[i] + (1.0 - BETA[1]) * gradient**2
            step = self._first[i] / (1.0 - BETA[0] ** self._count)
            scale = self._xp.sqrt(self._second[i] / (1.0 - BETA[1] ** self._count)) + ROUND
            self._network.layers[i] -= rate * step / scale


def train(xp: Any, given: Samples, options: argparse.Namespace) -> Network:  # noqa: ANN401
    """Return a network that was trained on the squared error, with a rate that falls to zero.

    Args:
        xp: Module of the arrays: numpy or cupy.
        given: The samples.
        options: Options of ``train``.
    """
    states, chunks, jacobians, held, resting = (xp.asarray(one) for one in given)
    rng, targets = xp.random.default_rng(options.seed), chunks.reshape(len(chunks), -1)
    inputs = features(xp, states)
    sizes = (inputs.shape[1], *[options.width] * options.layers, targets.shape[1])
    layers = list[Any]()
    for size, following in itertools.pairwise(sizes):
        drawn = rng.standard_normal((size, following), dtype=np.float32)
        layers += [drawn * np.float32(np.sqrt(2.0 / size)), xp.zeros(following, dtype=np.float32)]
    spread = [xp.maximum(one.std(axis=0), LEAST_STD).astype(np.float32) for one in (inputs, targets)]
    network = Network([*layers, inputs.mean(axis=0), spread[0], targets.mean(axis=0), spread[1]])
    y, optimiser = (targets - network.out_mean) / network.out_std, Adam(xp, network)
    noise = (options.noise + (options.rest_noise - options.noise) * resting[:, None]).astype(np.float32)
    count, total = 0, options.epochs * -(-len(y) // options.batch)
    loss = 0.0
    with trange(options.epochs, desc="train", unit="epoch", disable=None) as bar:
        for _ in bar:
            order, losses = xp.argsort(rng.random(len(y), dtype=np.float32)), []
            for begin in range(0, len(y), options.batch):
                part = order[begin : begin + options.batch]
                moved = displaced(xp, rng, states[part], jacobians[part], held[part], noise[part])
                found = network.forward((features(xp, moved) - network.mean) / network.std)
                error = found[-1] - y[part]
                losses.append((error**2).mean())
                count += 1
                rate = RATE * 0.5 * (1.0 + float(np.cos(np.pi * count / total)))
                optimiser.step(network.gradients(found, error * np.float32(2.0 / len(part))), rate)
            loss = float(sum(losses)) / len(losses)
            bar.set_postfix_str(f"loss {loss:.5f}", refresh=False)
    print(f"{len(y)} samples, {options.epochs} epochs, loss {loss:.5f} in units of the deviations")
    return network


def serve(path: Path, port: int, executed: int) -> None:
    """Serve a network until the process is ended.

    Args:
        path: File of the network.
        port: The port; 0: a free one.
        executed: Number of actions of a chunk that are executed.
    """
    with np.load(path) as file:
        network = Network([file[name] for name in file.files])

    def act(observation: dict[str, Array]) -> Array:
        state = np.asarray(observation[KEY], dtype=np.float32)
        return network(state[None])[0].astype(np.float64)

    about = {
        "name": path.stem, "state": list(STATE), "action_space": "joint_position", "gripper": "width",
        "action_dim": 8, "action_horizon": CHUNK, "execute_steps": executed, "rate_hz": 25.0,
    }  # fmt: skip
    server = PolicyServer(FunctionPolicy(act, about), port=port)
    print(server.address, flush=True)
    server.run()


def arrays_of(*, gpu: bool) -> Any:  # noqa: ANN401
    """Return the module of the arrays.

    Args:
        gpu: True: cupy, which computes on the GPU.
    """
    if not gpu:
        return np
    import cupy

    return cupy


def main() -> None:
    """Train or serve."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    training = commands.add_parser("train")
    training.add_argument("folder", type=Path)
    training.add_argument("--episodes", required=True, metavar="BEGIN:END")
    training.add_argument("--out", type=Path, required=True)
    training.add_argument("--epochs", type=int, default=100)
    training.add_argument("--batch", type=int, default=512)
    training.add_argument("--width", type=int, default=512, help="neurons of a layer")
    training.add_argument("--layers", type=int, default=3)
    training.add_argument(
        "--noise", type=float, default=0.02, help="displacement of the joints on the path [rad]"
    )
    training.add_argument("--rest-noise", type=float, default=0.02, help="that at its end [rad]")
    training.add_argument("--seed", type=int, default=0)
    training.add_argument("--workers", type=int, default=1, help="processes that read the episodes")
    training.add_argument("--gpu", action="store_true", help="train with cupy")
    serving = commands.add_parser("serve")
    serving.add_argument("file", type=Path)
    serving.add_argument("--port", type=int, default=8000)
    serving.add_argument("--execute-steps", type=int, default=EXECUTED)
    options = parser.parse_args()
    if options.command == "serve":
        serve(options.file, options.port, options.execute_steps)
        return
    given = samples(options.folder, range(*read_range(options.episodes)), options.workers)
    begun_s, xp = time.monotonic(), arrays_of(gpu=options.gpu)
    network = train(xp, given, options)
    arrays = network.arrays if xp is np else [xp.asnumpy(one) for one in network.arrays]
    np.savez(options.out, *arrays)
    print(f"{options.out}: trained in {time.monotonic() - begun_s:.0f} s")


if __name__ == "__main__":
    main()
