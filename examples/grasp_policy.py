"""A scripted policy in place of a learned one: the FR3's hand goes over the cube, down to it, and closes.

Serve it, and run it on a stack:

    handiwork serve-policy examples/grasp_policy.py:make
    handiwork run run_policy server=ws://localhost:8000 until=object_grabbed action_space=ee_pose \
        'state=[ee_pose, object_pose(cube), gripper_width]' 'guard={may_touch: [cube]}'
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handiwork import Rotation

TCP_M = 0.1034
"""From the FR3's hand to the point between its fingertips."""
ABOVE_M, ALIGNED_M, THERE_M, TURNED_RAD = 0.08, 0.006, 0.006, 0.08
OPEN_M, EMPTY_M = 0.08, 0.03
"""Opening of the fingers, and the one below which they cannot hold the cube."""
STEP_M, STEP_RAD, CHUNK = 0.005, 0.03, 8
"""Way and turn of the hand in a step, and the steps of a chunk."""


def make() -> Callable[[dict[str, Any]], NDArray[np.float64]]:
    """Return the policy: a function that returns the chunk of actions of an observation, (h, 7)."""
    return act


def act(observation: dict[str, Any]) -> NDArray[np.float64]:
    """Return the poses of the hand in the next steps, as position and rotation vector, with the opening.

    Args:
        observation: Its state is the pose of the hand, that of the cube, x, y, z, w, x, y, z each, and the opening.
    """
    state = np.asarray(observation["observation/state"], dtype=np.float64)
    hand, cube, yaw = state[:3], state[7:10], heading(state[3:7])
    to_face = (heading(state[10:14]) - yaw + np.pi / 4.0) % (np.pi / 2.0) - np.pi / 4.0
    at_cube = cube + [0.0, 0.0, TCP_M]
    is_empty = float(state[14]) < EMPTY_M  # it has closed on nothing: open, rise, and try again
    is_over = float(np.linalg.norm((at_cube - hand)[:2])) < ALIGNED_M and abs(to_face) < TURNED_RAD
    is_aligned = is_over and not is_empty
    goal = at_cube if is_aligned else at_cube + [0.0, 0.0, ABOVE_M]
    is_there = is_aligned and float(np.linalg.norm(goal - hand)) < THERE_M
    rows = []
    for _ in range(CHUNK):
        way, turn = goal - hand, float(np.clip(to_face, -STEP_RAD, STEP_RAD))
        length = float(np.linalg.norm(way))
        hand = goal if length <= STEP_M else hand + STEP_M / length * way
        yaw, to_face = yaw + turn, to_face - turn
        down = rotation_vector(Rotation.from_rpy(np.pi, 0.0, yaw).wxyz)
        rows.append([*hand, *down, 0.0 if is_there else OPEN_M])
    return np.array(rows)


def heading(wxyz: NDArray[np.float64]) -> float:
    """Return the direction of a body's x axis, seen from above, rad.

    Args:
        wxyz: Quaternion of length 1.
    """
    x_axis = Rotation.from_wxyz(wxyz).matrix()[:, 0]
    return float(np.arctan2(x_axis[1], x_axis[0]))


def rotation_vector(wxyz: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the axis of a rotation times its angle.

    Args:
        wxyz: Quaternion of length 1.
    """
    w, axis = float(wxyz[0]), np.asarray(wxyz[1:])
    sine = float(np.linalg.norm(axis))
    return axis * (2.0 * np.arctan2(sine, w) / sine) if sine > 1e-9 else 2.0 * axis
