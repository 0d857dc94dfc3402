"""Writing of the pipeline's values into the responses of the ``planner/*`` services."""

from __future__ import annotations

from typing import Any

import numpy as np

from handiwork_core.contracts.planning import CandidatesResult, IkResult, PlanResult, Verdict
from handiwork_core.model.outcome import Code, Outcome
from handiwork_ros import conversions as to


def fill_plan(response: Any, value: PlanResult) -> None:
    """Write the result of a plan.

    Args:
        response: The response.
        value: The result.
    """
    response.result = to.plan_result_to_msg(value)


def fill_candidates(response: Any, value: CandidatesResult) -> None:
    """Write the verdicts on candidates.

    Args:
        response: The response.
        value: The verdicts.
    """
    response.outcome = to.outcome_to_msg(Outcome(value.code, value.message))
    response.verdicts = [to.candidate_verdict_to_msg(v) for v in value.verdicts]
    response.planning_time, response.world_version = float(value.planning_time_s), value.world_version


def fill_ik(response: Any, value: IkResult) -> None:
    """Write the configurations of poses.

    Args:
        response: The response.
        value: The configurations.
    """
    found = any(code is Code.OK for code in value.codes)
    text = "" if found else f"none of {len(value.codes)} poses has a solution; see codes"
    response.outcome = to.outcome_to_msg(Outcome(Code.OK if found else Code.NO_IK, text))
    response.codes = [int(code) for code in value.codes]
    response.positions = np.ravel(value.q).tolist()
    response.position_errors = value.position_error_m.tolist()
    response.angle_errors = value.angle_error_rad.tolist()
    response.planning_time = float(value.planning_time_s)


def fill_explanation(response: Any, value: tuple[Verdict, int]) -> None:
    """Write the verdict on a configuration.

    Args:
        response: The response.
        value: The verdict, and the version of the world.
    """
    verdict, version = value
    response.outcome = to.outcome_to_msg(to.verdict_outcome(verdict))
    response.clearance, response.world_version = float(verdict.clearance_m), version


def fill_validation(response: Any, value: tuple[Verdict, int]) -> None:
    """Write the verdict on a trajectory.

    Args:
        response: The response.
        value: The verdict, and the version of the world.
    """
    fill_explanation(response, value)
    response.point_index = value[0].at
