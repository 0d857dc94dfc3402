"""Keeps ROS's launch from starting a node again whose configuration is bad: it would do so every half second for ever.

``respawn`` knows no exit codes, but a process that launch was asked to shut down is not started again, not even while
the delay before its next start runs. ``handiwork launch`` keeps the same rules itself and does not include this file.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from launch.actions import EmitEvent, LogInfo, RegisterEventHandler
from launch.event_handlers import OnProcessExit
from launch.events import matches_action
from launch.events.process import ShutdownProcess

from handiwork_cli.processes.refusals import ADVICE, Refusals
from launch import LaunchDescription

if TYPE_CHECKING:
    from launch.events.process import ProcessExited

    from launch import LaunchContext

OURS = "/handiwork/"
"""The enclaves of our nodes begin with it. Other programs may give the exit codes another meaning."""


def generate_launch_description() -> LaunchDescription:
    """Return the handler of the ends of all processes; launch calls this function."""
    refusals: defaultdict[Any, Refusals] = defaultdict(Refusals)

    def on_exit(event: ProcessExited, _context: LaunchContext) -> list[Any]:
        if not any(word.startswith(OURS) for word in event.cmd):
            return []
        if not refusals[event.action].ends_with(event.returncode):
            return []
        text = f"{event.process_name} ended (exit code {event.returncode}); {ADVICE}"
        return [
            EmitEvent(event=ShutdownProcess(process_matcher=matches_action(event.action))),
            LogInfo(msg=text),
        ]

    return LaunchDescription([RegisterEventHandler(OnProcessExit(on_exit=on_exit))])
