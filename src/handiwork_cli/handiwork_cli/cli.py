"""The ``handiwork`` command."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.process.domain import DomainError

from .launch_files.model import LaunchError
from .processes.interrupts import INTERRUPTED
from .ros.connection import NoServerError

COMMANDS = {
    "stack.demo": ("demo",),
    "stack.launch": ("launch",),
    "stack.view": ("view",),
    "stack.change_tool": ("change-tool",),
    "inspect.status": ("status",),
    "inspect.conditions": ("conditions",),
    "inspect.why": ("why",),
    "inspect.bundles": ("explain", "replay"),
    "inspect.plot": ("plot",),
    "inspect.watch": ("watch", "unwatch", "watch-task"),
    "goals.goal": ("pick", "place"),
    "goals.run_skill": ("run",),
    "goals.execute": ("execute",),
    "goals.task": ("task",),
    "goals.skills": ("skills",),
    "files.new_skill": ("new-skill",),
    "stack.record": ("record",),
    "goals.safety": ("stop", "safety"),
    "stack.soak": ("soak",),
    "stack.soak_all": ("soak-all",),
    "stack.chaos": ("chaos",),
    "files.new_robot": ("new-robot",),
    "inspect.show_robot": ("show-robot", "draw-robots"),
    "inspect.document_robot": ("document-robot",),
    "files.reach": ("reach",),
    "stack.check_backend": ("check-backend",),
    "files.export_usd": ("export-usd",),
    "files.calibrate": ("calibrate",),
    "files.score_judge": ("score-judge",),
    "files.generate": ("generate", "merge", "replay-actions"),
    "files.evaluate": ("evaluate",),
    "files.render": ("render",),
    "files.export": ("export",),
    "stack.serve_policy": ("serve-policy",),
    "stack.security": ("security",),
}
"""The modules below ``commands``, in the order of the help, with the commands that each declares."""

NAMESPACE_RULE = re.compile(r"/?([A-Za-z_]\w*(/[A-Za-z_]\w*)*)?", re.ASCII)
"""The namespaces that ROS 2 takes."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: Words of the command line; None takes those of the process.

    Returns:
        Exit code, 0 exactly when the command has succeeded, ``INTERRUPTED`` after Ctrl-C.
    """
    parser = argparse.ArgumentParser(prog="handiwork", description="Pick and place over ROS 2.")
    commands = parser.add_subparsers(dest="command", required=True)
    parser.add_argument("--namespace", help="of the stack that the command speaks to; also after the command")
    words, namespace = without_namespace(sys.argv[1:] if argv is None else argv)
    if namespace is not None:
        if not NAMESPACE_RULE.fullmatch(namespace):
            parser.error(f"--namespace is {namespace!r}; write letters, digits and _, parts joined by /")
        os.environ["HANDIWORK_NAMESPACE"] = namespace
    for module in modules_of(words[0] if words else ""):
        import_module(f".commands.{module}", __package__).add_parser(commands)
    options = parser.parse_args(words)
    try:
        return int(options.run(options))
    except (LaunchError, ConfigError, DomainError, NoServerError) as error:
        print(f"handiwork {options.command}: {_sentence(error)}", file=sys.stderr)
        return 1 if isinstance(error, NoServerError) else 2
    except KeyboardInterrupt:
        print(f"handiwork {options.command}: interrupted", file=sys.stderr)
        return INTERRUPTED


def _sentence(error: Exception) -> str:
    """Return the fault; of several the first one with their number, and the others in a list below it."""
    if not isinstance(error, ConfigError) or len(error.faults) < 2:
        return str(error)
    first, *others = error.faults
    head = f"{error.source}: {first} (the first of {len(error.faults)} faults)"
    return "\n".join([head, *(f"  - {fault}" for fault in others)])


def without_namespace(words: Sequence[str]) -> tuple[list[str], str | None]:
    """Take the option ``--namespace`` out of a command line; it may stand before or after the command.

    Args:
        words: Words of the command line.

    Returns:
        The other words, and the namespace; None without the option.
    """
    others, rest = list[str](), iter(words)
    namespace: str | None = None
    for word in rest:
        name, is_joined, value = word.partition("=")
        if name != "--namespace":
            others.append(word)
        elif (namespace := value if is_joined else next(rest, None)) is None:
            others.append(word)  # argparse says what is missing
    return others, namespace


def modules_of(command: str) -> list[str]:
    """Return the modules that declare a command: only they are imported, as some take half a second.

    Args:
        command: First word of the command line.

    Returns:
        Names of modules below ``commands``; all of them for an unknown command, and for the help.
    """
    return [module for module, names in COMMANDS.items() if command in names] or list(COMMANDS)
