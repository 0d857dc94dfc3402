"""A policy server in a process of its own: it asks for the measured joints and a change of the first one."""

from __future__ import annotations

import argparse
import sys

import numpy as np

from handiwork_policy.protocol.server import FunctionPolicy, PolicyServer

CHUNK = 8


def main() -> None:
    """Print the address, then serve until the process is ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", default="turn")
    parser.add_argument("--turn", type=float, default=0.0, help="change of the first joint [rad]")
    options = parser.parse_args()

    def act(observation: dict[str, np.ndarray]) -> np.ndarray:
        target = observation["observation/state"][:7].copy()
        target[0] += options.turn
        return np.repeat([target], CHUNK, axis=0)

    about = {"name": options.name, "action_space": "joint_position", "gripper": "none", "action_dim": 7}
    server = PolicyServer(FunctionPolicy(act, about))
    sys.stdout.write(f"{server.address}\n")
    sys.stdout.flush()
    server.run()


if __name__ == "__main__":
    main()
