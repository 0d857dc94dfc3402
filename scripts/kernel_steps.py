"""Steps of the set-up that compile kernels: ahead of their first use, or in the background after the demo."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from pathlib import Path

from kernels import kernel_commands
from steps import BUILD, ROOT, VENV, announced, finish, hash_files, is_done, mark_done, start

COMMANDS = kernel_commands(VENV / "bin" / "python", ROOT / "src" / "robot_description" / "robots" / "fr3")
"""The commands for the demo's nodes, and those that need them to be done."""


def compile_kernels() -> None:
    """Compile the kernels of the demo's nodes, so that no first start has to wait for them."""
    content = hash_kernels(
        "handiwork_planning", "planner_node", "conditionals_node", "handiwork_core/handiwork_core/safety"
    )
    if is_done("kernels", content):
        return
    with announced("Compiling kernels"):
        run_together(COMMANDS[0])
    mark_done("kernels", content)


def compile_later_kernels() -> None:
    """Compile the kernels that the demo does not need; they use the planner's.

    A set-up that needs them waits for one that compiles them in the background. A node that needs one before it is
    there compiles it itself: Numba renames complete files only.
    """
    content = hash_kernels("handiwork_planning", "planner_node", "decider_node", "perception_bridge")
    with (BUILD / "later_kernels.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_done("later-kernels", content):
            return
        with announced("Compiling the kernels of decider, perception and obstacles"):
            run_together(COMMANDS[1])
        mark_done("later-kernels", content)


def run_together(commands: dict[str, list[str]]) -> None:
    """Run commands side by side, and wait for all.

    Args:
        commands: Programs with their arguments, by name.

    Raises:
        Missing: a command failed.
    """
    for name, running in {name: start(name, command) for name, command in commands.items()}.items():
        finish(name, *running)


def hash_kernels(*folders: str) -> str:
    """Return a hash of the sources below some folders of ``src``.

    Args:
        folders: Paths of the folders, relative to ``src``.
    """
    return hash_files([path for name in folders for path in (ROOT / "src" / name).rglob("*.py")], "kernels")


def begin_later_kernels() -> None:
    """Start ``compile_later_kernels`` in a process of low priority that outlives this one."""
    log = BUILD / "log" / "later kernels.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        subprocess.Popen(
            [
                "nice",
                "-n",
                "19",
                sys.executable,
                str(Path(__file__).with_name("setup.py")),
                "--later-kernels",
            ],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
