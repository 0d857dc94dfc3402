"""Growth of the memory of every process of the stack while it works: ``python -m benchmarks.nodes.memory --help``.

Starts ``handiwork soak`` (or watches what ``--pid`` names, with all its children), reads the anonymous memory of each
process every few seconds, leaves the warm-up out, and fits a straight line. Linux only.

The heap of a process reaches its greatest size within some minutes of work, which depends on the number of goals more
than on time: a warm-up of less than five minutes shows that rise, and no leak.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from benchmarks.nodes.straight_line import Growth, growth, table
from handiwork_cli.processes.memory import resident_bytes

PROC = Path("/proc")
END_S = 20.0
GOALS_OF_EPISODE = 3
"""A pick, a place, and a pick that is canceled."""
NODE = re.compile(r"__node:=(\S+)")


def family(root: int) -> list[int]:
    """Return a process and all its descendants.

    Args:
        root: The process.
    """
    children: dict[int, list[int]] = defaultdict(list)
    for folder in PROC.iterdir():
        if folder.name.isdigit():
            try:
                after_name = (folder / "stat").read_text().rpartition(")")[2]
            except OSError:
                continue
            children[int(after_name.split()[1])].append(int(folder.name))
    found = [root]
    for pid in found:
        found.extend(children[pid])
    return found


def name_of(pid: int) -> str:
    """Return the ROS name of a node's process, else the name of its program.

    Args:
        pid: The process.
    """
    try:
        arguments = (PROC / str(pid) / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return "ended"
    words = [argument.decode(errors="replace") for argument in arguments if argument]
    node = next((match[1] for word in words if (match := NODE.search(word))), None)
    scripts = [Path(word).name for word in words[:3] if not word.startswith("-")]
    return node or " ".join(scripts[:2]) or str(pid)


class Watch:
    """Samples of every process below one; a process that is started again counts as another."""

    def __init__(self, root: int) -> None:
        self._root, self._begin_s = root, time.monotonic()
        self._series: dict[int, list[tuple[float, float]]] = defaultdict(list)
        self._names: dict[int, str] = {}

    def sample(self) -> None:
        """Read all of them once."""
        now_s = time.monotonic() - self._begin_s
        for pid in family(self._root):
            size = resident_bytes(pid)
            if size is not None:
                self._series[pid].append((now_s, size))
                self._names[pid] = name_of(pid)

    def growths(self, warm_up_s: float) -> dict[str, Growth]:
        """Return the growth of each process that lived long enough, by name and process id.

        Args:
            warm_up_s: Earlier samples of each process do not count, s.
        """
        found = {}
        for pid, series in self._series.items():
            rows = np.array(series, dtype=np.float64)
            line = growth(rows[:, 0] - rows[0, 0], rows[:, 1], warm_up_s)
            if line is not None:
                found[f"{self._names[pid]} ({pid})"] = line
        return dict(sorted(found.items()))


def parsed() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.nodes.memory", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0, help="how long it is watched")
    parser.add_argument(
        "--warm-up", type=float, default=6.0, help="minutes of each process that do not count"
    )
    parser.add_argument("--every", type=float, default=2.0, help="seconds between samples")
    parser.add_argument(
        "--pid", type=int, default=0, help="watch this process and its children; 0: start a soak"
    )
    parser.add_argument("--limit", type=float, default=1.0, help="greatest slope that passes [MB/h]")
    parser.add_argument("soak", nargs="*", help="arguments for handiwork soak, after --")
    arguments = parser.parse_args()
    if not 0.0 <= arguments.warm_up < arguments.minutes or arguments.every <= 0.0:
        parser.error("--warm-up must be 0 or more and less than --minutes, --every more than 0")
    return arguments


def watch(root: int, arguments: argparse.Namespace, started: subprocess.Popen[str] | None) -> Watch:
    """Sample until the time is over, or the started process has ended.

    Args:
        root: The process that is watched with its descendants.
        arguments: The command line.
        started: The process that this one has started; None without one.
    """
    found, end_s = Watch(root), time.monotonic() + 60.0 * arguments.minutes
    while time.monotonic() < end_s and (started is None or started.poll() is None):
        found.sample()
        time.sleep(arguments.every)  # noqa: TID251 - a steady rate
    return found


class GoalCount:
    """Passes the lines of a soak on to stderr, and counts the goals of its episodes.

    Args:
        lines: The output of the soak.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines, self.goals = lines, 0
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def join(self) -> None:
        """Wait for the end of the lines."""
        self._thread.join(END_S)

    def _read(self) -> None:
        for line in self._lines:
            sys.stderr.write(line)
            self.goals += GOALS_OF_EPISODE if line.startswith("episode ") else 0


def main() -> int:
    """Print the table; the exit status is 1 if a process grows faster than the limit."""
    arguments = parsed()
    goals_h = 0.0
    if arguments.pid:
        growths = watch(arguments.pid, arguments, None).growths(60.0 * arguments.warm_up)
    else:
        program = str(Path(sys.executable).parent / "handiwork")
        command = [program, "soak", "--episodes", "1000000", *arguments.soak]
        started = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
        assert started.stdout is not None
        count = GoalCount(started.stdout)
        try:
            growths = watch(started.pid, arguments, started).growths(60.0 * arguments.warm_up)
        finally:
            end(started)
            count.join()
        goals_h = 60.0 * count.goals / arguments.minutes
        print(f"{count.goals} goals, load {os.getloadavg()[0]:.1f}\n")
    print(table(growths, goals_h))
    if not growths:
        print("nothing lived longer than the warm-up: give more --minutes", file=sys.stderr)
        return 2
    return 1 if any(g.slope_mb_h > arguments.limit for g in growths.values()) else 0


def end(started: subprocess.Popen[str]) -> None:
    """End the soak with its stack.

    Args:
        started: The soak.
    """
    if started.poll() is None:
        os.killpg(started.pid, signal.SIGINT)
        try:
            started.wait(END_S)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)


if __name__ == "__main__":
    raise SystemExit(main())
