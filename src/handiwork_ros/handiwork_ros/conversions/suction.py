"""Conversions of the state of a suction cup."""

from __future__ import annotations

import math

from handiwork_msgs.msg import SuctionState as SuctionStateMsg

from handiwork_core.model.suction import SuctionState

from .pose import BadMessage, time_from_msg, time_to_msg


def suction_state_from_msg(msg: SuctionStateMsg) -> SuctionState:
    """Read the state of a suction cup; nan is allowed for values that are not measured.

    Args:
        msg: The message.

    Raises:
        BadMessage: A number is infinite.
    """
    for field in ("force", "moment", "gap", "angle"):
        if math.isinf(value := getattr(msg, field)):
            raise BadMessage(f"suction_state.{field}", f"is {value}; send a finite number, or nan for none")
    return SuctionState(
        time_from_msg(msg.stamp),
        msg.on,
        msg.sealed,
        msg.object,
        msg.force,
        msg.moment,
        msg.gap,
        msg.angle,
        msg.why,
    )


def suction_state_to_msg(state: SuctionState) -> SuctionStateMsg:
    """Write the state of a suction cup.

    Args:
        state: The state.
    """
    return SuctionStateMsg(
        stamp=time_to_msg(state.stamp_s),
        on=state.on,
        sealed=state.sealed,
        object=state.object,
        force=state.force_n,
        moment=state.moment_nm,
        gap=state.gap_m,
        angle=state.angle_rad,
        why=state.why,
    )
