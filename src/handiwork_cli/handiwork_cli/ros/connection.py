"""A client of the skill server for one command."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from handiwork_cli.processes.ros_environment import with_ros_defaults

if TYPE_CHECKING:
    from handiwork_ros.clients.skill_client import SkillClient

READY_S = 10.0


class NoServerError(RuntimeError):
    """No server accepts goals; the message says what to do."""


@contextmanager
def connected() -> Iterator[SkillClient]:
    """Provide a client whose server is active.

    Yields:
        The client.

    Raises:
        NoServerError: The server is not active after ``READY_S``.
    """
    os.environ.update(with_ros_defaults(os.environ))
    from handiwork_ros.clients.skill_client import SERVER, SkillClient

    with SkillClient(node_name="handiwork_command") as client:
        if not client.wait_ready(READY_S):
            raise NoServerError(
                f"{SERVER} is not active after {READY_S:.0f} s; start the stack, or set its ROS_DOMAIN_ID"
            )
        yield client
