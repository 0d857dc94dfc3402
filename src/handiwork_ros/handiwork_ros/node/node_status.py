"""What ``handiwork/status`` says in each state of the life cycle."""

from __future__ import annotations

import os

from handiwork_msgs.msg import NodeStatus

SHOWN = {
    "unconfigured": NodeStatus.UNCONFIGURED,
    "configuring": NodeStatus.CONFIGURING,
    "inactive": NodeStatus.INACTIVE,
    "activating": NodeStatus.INACTIVE,
    "active": NodeStatus.ACTIVE,
    "deactivating": NodeStatus.INACTIVE,
    "cleaningup": NodeStatus.INACTIVE,
    "shuttingdown": NodeStatus.SHUTTING_DOWN,
    "finalized": NodeStatus.FINALIZED,
    "errorprocessing": NodeStatus.FAULTY,
}
"""What the status says in each state of the life cycle, so that the two never differ."""


def status_message(name: str, state: str, text: str, progress: float, *, is_faulty: bool) -> NodeStatus:
    """Make the status of this process's node.

    Args:
        name: of the node.
        state: label of its state in the life cycle.
        text: what is being loaded, or the newest fault; empty: a transition state is named.
        progress: of loading, 0 to 1.
        is_faulty: the process ends because of a fault.
    """
    return NodeStatus(
        node=name,
        state=NodeStatus.FAULTY if is_faulty else SHOWN[state],
        message=text or (state if state.endswith("ing") else ""),
        progress=0.0 if state == "unconfigured" else progress,
        pid=os.getpid(),
    )
