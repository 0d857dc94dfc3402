"""A policy cloned from generated episodes: trained on states, served by openpi's protocol.

    handiwork generate benchmarks/policies/lift_cube.yaml --episodes 0:240 --out out/lift
    python -m benchmarks.policies.cloning train out/lift --episodes 0:240 --out out/lift_240.npz
    python -m benchmarks.policies.cloning serve out/lift_240.npz --port 8000
    handiwork evaluate benchmarks/policies/lift_cube.yaml --policy ws://localhost:8000 --episodes 100000:100100

The network gets joint positions, opening and the pose of the cube, and answers with the commands of the next steps.
"""

from __future__ import annotations

import argparse
import itertools
import time
from pathlib import Path

import numpy as np
from tqdm import trange

from handiwork import DatasetFolder
from handiwork_core.model.geometry import Array
from handiwork_data.dataset.generate import read_range
from handiwork_policy.protocol.server import FunctionPolicy, PolicyServer

STATE = ("joint_position", "gripper_width", "object_pose(cube)")
KEY = "observation/state"
OBJECT = "cube"
CHUNK = 8
EXECUTED = 8
REST = 25
"""Copies of the last sample of each demonstration, from which the policy learns to stay there."""
WIDTHS = (128, 128, 128)
LEAST_STD = 1e-3
NOISE = 0.01
"""Standard deviation of the noise on inputs, in theirs: the policy meets states beside those that it has learned."""
BATCH = 512
RATE = 1e-3
BETA = (0.9, 0.999)
ROUND = 1e-8


def samples(folder: Path, begin: int, end: int) -> tuple[Array, Array]:
    """Return states and chunks of commands of the successful episodes of a folder.

    Args:
        folder: A folder of ``handiwork generate``.
        begin: First episode.
        end: The one behind the last.

    Returns:
        States, (n, 15), and commands, (n, CHUNK, 8): joints, rad, then the opening, m.
    """
    data, states, actions = DatasetFolder(folder), list[Array](), list[Array]()
    for number in data.episodes():
        if not begin <= number < end:
            continue
        episode = data.read(number)
        if not episode.meta.success:
            continue
        columns, meta = episode.columns, episode.meta
        arm = [i for i, name in enumerate(meta.joints) if "finger" not in name]
        measured = columns["joint_position"][:, arm]
        pose = columns["object_pose"][:, meta.objects.index(OBJECT)].copy()
        pose[pose[:, 3] < 0.0, 3:] *= -1.0  # as the state layout of a policy has it
        state = np.concatenate([measured, columns["gripper_width"], pose], axis=1)
        # The first action of a chunk is for the end of the step that begins with the state.
        command = np.concatenate([columns["joint_command"][:, arm], columns["gripper_command"]], axis=1)
        rows = np.minimum(np.arange(len(command))[:, None] + 1 + np.arange(CHUNK), len(command) - 1)
        chunk = command[rows]
        states += [state, np.repeat(state[-1:], REST, axis=0)]
        actions += [chunk, np.repeat(chunk[-1:], REST, axis=0)]
    if not states:
        raise SystemExit(f"{folder} has no successful episode from {begin} to {end}; generate some")
    return np.concatenate(states), np.concatenate(actions)


class Network:
    """A network of layers with rectifiers, in numpy.

    Args:
        arrays: Weights and biases in turn, then mean and deviation of inputs and of outputs.
    """

    def __init__(self, arrays: list[Array]) -> None:
        *self.layers, self.mean, self.std, self.out_mean, self.out_std = arrays

    def __call__(self, states: Array) -> Array:
        """Return chunks of actions, (n, CHUNK, 8).

        Args:
            states: States, (n, 15).
        """
        rows = (states - self.mean) / self.std
        return (self.forward(rows)[-1] * self.out_std + self.out_mean).reshape(len(states), CHUNK, -1)

    def forward(self, rows: Array) -> list[Array]:
        """Return the values behind each layer, the inputs first.

        Args:
            rows: Normalised states.
        """
        found = [rows]
        last = len(self.layers) // 2 - 1
        for i in range(last + 1):
            values = found[-1] @ self.layers[2 * i] + self.layers[2 * i + 1]
            found.append(values if i == last else np.maximum(values, 0.0))
        return found

    def gradients(self, found: list[Array], error: Array) -> list[Array]:
        """Return the gradients of weights and biases.

        Args:
            found: See ``forward``.
            error: Gradient of the loss at the outputs.
        """
        made = list[Array]()
        for i in reversed(range(len(self.layers) // 2)):
            made += [error.sum(axis=0), found[i].T @ error]
            error = (error @ self.layers[2 * i].T) * (found[i] > 0.0)
        return made[::-1]


def train(states: Array, actions: Array, epochs: int, seed: int) -> Network:
    """Return a network that was trained by Adam on the squared error, with a rate that falls to zero.

    Args:
        states: States, (n, 15).
        actions: Chunks, (n, CHUNK, 8).
        epochs: Number of passes.
        seed: Seed of weights, noise and order.
    """
    rng = np.random.default_rng(seed)
    targets = actions.reshape(len(actions), -1)
    sizes = (states.shape[1], *WIDTHS, targets.shape[1])
    layers = list[Array]()
    for size, following in itertools.pairwise(sizes):
        layers += [rng.normal(0.0, np.sqrt(2.0 / size), (size, following)), np.zeros(following)]
    mean, std = states.mean(axis=0), np.maximum(states.std(axis=0), LEAST_STD)
    out_mean, out_std = targets.mean(axis=0), np.maximum(targets.std(axis=0), LEAST_STD)
    arrays = [*layers, mean, std, out_mean, out_std]
    network = Network([one.astype(np.float32) for one in arrays])
    x = ((states - mean) / std).astype(np.float32)
    y = ((targets - out_mean) / out_std).astype(np.float32)
    first = [np.zeros_like(one) for one in network.layers]
    second = [np.zeros_like(one) for one in network.layers]
    count, total = 0, epochs * -(-len(x) // BATCH)
    with trange(epochs, desc="train", unit="epoch", disable=None) as bar:
        for _ in bar:
            order, loss = rng.permutation(len(x)), 0.0
            for begin in range(0, len(x), BATCH):
                part = order[begin : begin + BATCH]
                rows = x[part] + rng.normal(0.0, NOISE, (len(part), x.shape[1])).astype(np.float32)
                found = network.forward(rows)
                error = found[-1] - y[part]
                loss += float((error**2).mean()) * len(part)
                count += 1
                rate = RATE * 0.5 * (1.0 + np.cos(np.pi * count / total))
                for i, gradient in enumerate(network.gradients(found, 2.0 * error / len(part))):
                    first[i] = BETA[0] * first[i] + (1.0 - BETA[0]) * gradient
                    second[i] = BETA[1] * second[i] + (1.0 - BETA[1]) * gradient**2
                    step = first[i] / (1.0 - BETA[0] ** count)
                    scale = np.sqrt(second[i] / (1.0 - BETA[1] ** count)) + ROUND
                    network.layers[i] -= (rate * step / scale).astype(np.float32)
            bar.set_postfix_str(f"loss {loss / len(x):.5f}", refresh=False)
    print(f"{len(x)} samples, {epochs} epochs, loss {loss / len(x):.5f} in units of the deviations")
    return network


def serve(path: Path, port: int) -> None:
    """Serve a network until the process is ended.

    Args:
        path: File of the network.
        port: The port; 0: a free one.
    """
    with np.load(path) as file:
        network = Network([file[name] for name in file.files])

    def act(observation: dict[str, Array]) -> Array:
        state = np.asarray(observation[KEY], dtype=np.float32)
        chunk = network(state[None])[0].astype(np.float64)
        return chunk

    about = {
        "name": path.stem, "state": list(STATE), "action_space": "joint_position", "gripper": "width",
        "action_dim": 8, "action_horizon": CHUNK, "execute_steps": EXECUTED, "rate_hz": 25.0,
    }  # fmt: skip
    server = PolicyServer(FunctionPolicy(act, about), port=port)
    print(server.address, flush=True)
    server.run()


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
    training.add_argument("--seed", type=int, default=0)
    serving = commands.add_parser("serve")
    serving.add_argument("file", type=Path)
    serving.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    if options.command == "serve":
        serve(options.file, options.port)
        return
    states, actions = samples(options.folder, *read_range(options.episodes))
    begun_s = time.process_time()
    network = train(states, actions, options.epochs, options.seed)
    arrays = [*network.layers, network.mean, network.std, network.out_mean, network.out_std]
    np.savez(options.out, *arrays)
    print(f"{options.out}: {time.process_time() - begun_s:.0f} s of processor time")


if __name__ == "__main__":
    main()
