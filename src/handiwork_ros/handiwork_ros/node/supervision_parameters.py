"""The parameters of the supervision of motions under way, the same for every node that moves arms."""

from __future__ import annotations

import math

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.supervision import SUPERVISED, SupervisionSettings

from .managed_node import ManagedNode


def supervision_settings(node: ManagedNode) -> SupervisionSettings:
    """Read the parameters ``supervision.*`` of a node.

    Args:
        node: Node that declares the parameters.

    Returns:
        The settings.

    Raises:
        ConfigError: A number is out of its range.
    """
    usual, key = SUPERVISED, "supervision."
    texts = {
        "distance": "an object that moved farther than this while an arm moves has changed [m]",
        "angle": "the same for turning [rad]",
        "period": "the rest of a motion is validated again at most this often [s of steady time]",
        "answer": "a change that the planner has not judged within this time brakes the arm [s of steady time]",
    }
    values = (usual.distance_m, usual.angle_rad, usual.period_s, usual.answer_s)
    numbers = [
        node.parameter(key + name, value, text)
        for (name, text), value in zip(texts.items(), values, strict=True)
    ]
    for name, value in zip(texts, numbers, strict=True):
        if not 0.0 < value < math.inf:
            raise ConfigError(
                f"node {node.get_name()}", [f"parameter {key}{name}: is {value}; give more than 0"]
            )
    is_on = node.parameter(
        key + "on", usual.is_on, "whether motions are validated again as the world changes"
    )
    replans = node.parameter(
        key + "replans", usual.replans, "times that a motion is planned again after it was stopped"
    )
    if replans < 0:
        raise ConfigError(
            f"node {node.get_name()}", [f"parameter {key}replans: is {replans}; give 0 or more"]
        )
    distance_m, angle_rad, period_s, answer_s = numbers
    return SupervisionSettings(is_on, distance_m, angle_rad, period_s, answer_s, replans)
