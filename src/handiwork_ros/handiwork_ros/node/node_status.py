"""The content of ``handiwork/status`` in each state of the life cycle."""

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
"""State of the life cycle -> state in the status, so that the two never differ."""


def status_message(name: str, state: str, text: str, progress: float, *, is_faulty: bool) -> NodeStatus:
    """Make the status of this process's node.

    Args:
        name: Name of the node.
        state: Label of its state in the life cycle.
        text: Current step of loading, or the newest fault; if empty, a transition state is named.
        progress: Progress of loading, 0 to 1.
        is_faulty: True if the process ends because of a fault.
    """
    return NodeStatus(
        node=name,
        state=NodeStatus.FAULTY if is_faulty else SHOWN[state],
        message=text or (state if state.endswith("ing") else ""),
        progress=0.0 if state == "unconfigured" else progress,
        pid=os.getpid(),
    )
