"""All measurements, one after the other: ``python -m benchmarks [--quick]``. Each file says what it measures.

The tables go to the terminal and, with machine and versions, to ``benchmarks/results/<date>.md``.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).with_name("results")
MARKDOWN = {
    "mbm-panda": ("benchmarks.mbm", "--robot panda --seeds 5 --per-scene 50 --peers all"),
    "mbm-ur5": ("benchmarks.mbm", "--robot ur5 --seeds 3 --per-scene 50"),
    "mbm-pose": ("benchmarks.mbm", "--robot panda --pose --per-scene 20"),
    "own-scene": ("benchmarks.mbm", "--scene config/scenes/tabletop.yaml --per-scene 50"),
    "checks": ("benchmarks.micro.checks", ""),
    "goal-sets": ("benchmarks.micro.goal_sets", ""),
    "scene-update": ("benchmarks.micro.scene_update", ""),
    "motions": ("benchmarks.micro.motions", ""),
    "first-plan": ("benchmarks.micro.first_plan", ""),
    "growth": ("benchmarks.micro.growth", ""),
}
"""Parts that print Markdown: module and arguments."""
QUICK = {
    "mbm-panda": "--robot panda --per-scene 3 --peers all",
    "mbm-ur5": "--robot ur5 --per-scene 2",
    "mbm-pose": "--robot panda --pose --per-scene 2",
    "own-scene": "--scene config/scenes/tabletop.yaml --per-scene 10",
    "checks": "--count 3200",
    "goal-sets": "--per-scene 1 --seeds 1",
    "first-plan": "--runs 2",
    "growth": "--problems 2 --seeds 1",
}
PLAIN = {
    "ik": ("benchmarks.ik", ""),
    "skills": ("benchmarks.skills", ""),
    "place_modes": ("benchmarks.skills.place_modes", ""),
    "look_ahead": ("benchmarks.skills.look_ahead", ""),
    "regrasp": ("benchmarks.skills.regrasp", ""),
    "handover": ("benchmarks.skills.handover", ""),
    "carry": ("benchmarks.two_arms.carry", ""),
    "conditions": ("benchmarks.conditions", ""),
    "conditions_node": ("benchmarks.conditions.node", ""),
    "batch": ("benchmarks.planning.batch", ""),
    "planning": ("benchmarks.planning", ""),
    "validation": ("benchmarks.planning.validation", ""),
    "simulation": ("benchmarks.simulation", ""),
    "idle": ("benchmarks.nodes.idle", ""),
    "startup": ("benchmarks.nodes.startup", ""),
    "ready": ("benchmarks.nodes.ready", ""),
}
"""Parts that print plain text; conditions_node, idle and startup need ROS."""
PACKAGES = ("numpy", "numba", "llvmlite", "scipy")


def machine() -> str:
    """Return a description of the machine and the versions."""
    name = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            name = line.partition(":")[2].strip()
            break
    versions = ", ".join(f"{package} {importlib.metadata.version(package)}" for package in PACKAGES)
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, check=False, capture_output=True, text=True
    ).stdout.strip()
    load = os.getloadavg()[0]
    return (
        f"{name}, {os.cpu_count()} cores, load {load:.1f}; {platform.system()} {platform.release()}; "
        f"Python {platform.python_version()}, {versions}; commit {commit or 'unknown'}"
    )


def run(module: str, arguments: str) -> tuple[str, str]:
    """Run a part in a process of its own: some parts need ROS, some must do without.

    Args:
        module: The part's module.
        arguments: Its command line.

    Returns:
        The part's output, and the reason of its failure, empty without one.
    """
    command = [sys.executable, "-m", module, *arguments.split()]
    ended = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
    why = f"exit code {ended.returncode}: {ended.stderr.strip()[-1500:]}" if ended.returncode else ""
    return ended.stdout.rstrip(), why


def section(name: str, quick: bool) -> tuple[str, bool]:
    """Run a part and return its Markdown, and whether it went well.

    Args:
        name: Name of the part.
        quick: Use fewer problems.
    """
    module, arguments = {**MARKDOWN, **PLAIN}[name]
    arguments = QUICK.get(name, arguments) if quick else arguments
    began = time.monotonic()
    text, why = run(module, arguments)
    if name in PLAIN:
        text = f"```\n{text}\n```"
    if why:
        text += f"\n\nFailed with {why}"
    command = f"python -m {module} {arguments}".rstrip()
    return f"## {name}\n\n`{command}`, {time.monotonic() - began:.0f} s\n\n{text}", not why


def options_of(parts: list[str]) -> argparse.Namespace:
    """Parse the command line; ends the program when a part has no such name.

    Args:
        parts: Names of all parts.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer problems; a few minutes")
    parser.add_argument("--only", default=",".join(parts), help="comma-separated parts")
    options = parser.parse_args()
    strange = [name for name in options.only.split(",") if name not in parts]
    if strange:
        parser.error(f"no part {', '.join(strange)}; there are {', '.join(parts)}")
    return options


def main() -> int:
    """Print and write every table; not zero when a part failed."""
    options = options_of([*MARKDOWN, *PLAIN])
    now, good = datetime.datetime.now(datetime.timezone.utc), True
    parts = [f"# Benchmark of {now:%Y-%m-%d %H:%M} UTC{', quick' if options.quick else ''}", machine()]
    print("\n\n".join(parts), flush=True)
    for name in options.only.split(","):
        text, went_well = section(name, options.quick)
        good = good and went_well
        parts.append(text)
        print(f"\n{text}", flush=True)
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{now:%Y-%m-%d-%H%M}{'-quick' if options.quick else ''}.md"
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    print(f"\nwritten to {path.relative_to(ROOT)}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
