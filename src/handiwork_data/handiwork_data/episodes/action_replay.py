"""Plays the recorded actions of an episode open loop: do they alone reach what the episode reached?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array
from sim_bridge.mujoco.simulation import CONTROL_S, STEPS_PER_CONTROL

from .episode import Episode
from .run import EpisodeCell, EpisodeSetup


@dataclass(frozen=True)
class Replayed:
    """What the actions reached.

    Attributes:
        success: True when the success condition is TRUE at the end, with its objects at rest.
        verdict: The monitor's sentence.
        joint_error: Greatest distance of a joint from the recording at a sample, rad or m.
        object_error_m: Greatest distance of an object from the recording at the end, m.
    """

    success: bool
    verdict: str
    joint_error: float
    object_error_m: float


def replay_actions(setup: EpisodeSetup, episode: Episode) -> Replayed:
    """Begin as the episode did, and let the servos follow ``joint_command``, and cups ``gripper_command``, alone.

    Between two samples the references are interpolated linearly, as a controller does that gets them at that rate. A
    cup is switched at the sample that has the new command, so up to one period late.

    Args:
        setup: What the episode was made with.
        episode: The episode.

    Returns:
        What the actions reached.
    """
    made = EpisodeCell(setup, episode.meta.episode)
    sim, columns = made.cell.sim, episode.columns
    asked, times = columns["joint_command"], columns["time"]
    indices = np.arange(asked.shape[1])
    begin_s, error = made.cell.now_s(), 0.0
    for i in range(len(times) - 1):
        rate = (asked[i + 1] - asked[i]) / (times[i + 1] - times[i])
        _switch_cups(made, columns["gripper_command"][i])
        while made.cell.now_s() - begin_s < times[i + 1] - 0.5 * CONTROL_S:
            passed_s = made.cell.now_s() - begin_s - times[i]
            sim.world.command(indices, asked[i] + passed_s * rate, rate)
            sim.world.step(STEPS_PER_CONTROL)
            for cup in sim.world.cups.values():
                if cup.on:
                    cup.update(CONTROL_S)
        error = max(error, _largest(sim.joints().position - columns["joint_position"][i + 1]))
    poses = sim.world.object_states()
    ends = [poses[name].world_T_object.translation_m for name in episode.meta.objects]
    finding, is_success = made.verdict(setup.task.settings.settle_s)
    moved = np.array(ends) - columns["object_pose"][-1, :, :3]
    return Replayed(is_success, finding.reason, error, _largest(np.linalg.norm(moved, axis=-1)))


def _switch_cups(made: EpisodeCell, widths: Array) -> None:
    """Switch the suction cups as a row of ``gripper_command`` says, (n_arms,), m."""
    for arm, width in zip(made.recorder.arms, widths.tolist(), strict=True):
        gripper = made.cell.robot.arms[arm].gripper
        if gripper is not None and gripper.suction is not None:
            made.cell.sim.world.cups[gripper.name].switch(on=width <= gripper.min_width_m)


def _largest(values: Array) -> float:
    return float(np.abs(values).max(initial=0.0))
