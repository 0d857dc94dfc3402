"""A DDS domain of our own, so that two runs on one machine never meet."""

from __future__ import annotations

import fcntl
import os
import tempfile
from pathlib import Path
from typing import IO

DOMAIN_IDS = range(20, 100)
"""Higher ones meet the kernel's ephemeral ports."""


def lease_domain_id() -> tuple[int, IO[str] | None]:
    """The user's ROS_DOMAIN_ID, or the first that no other run holds; the lease ends when the file is closed.

    Raises:
        RuntimeError: all are taken.
    """
    if os.environ.get("ROS_DOMAIN_ID"):
        return int(os.environ["ROS_DOMAIN_ID"]), None
    for domain_id in DOMAIN_IDS:
        name = f"handiwork_ros_domain_{os.getuid()}_{domain_id}.lock"
        lease = (Path(tempfile.gettempdir()) / name).open("w", encoding="utf-8")
        try:
            fcntl.flock(lease, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lease.close()
            continue
        return domain_id, lease
    raise RuntimeError(
        f"all DDS domain ids {DOMAIN_IDS.start} to {DOMAIN_IDS.stop - 1} are in use; end another run"
    )
