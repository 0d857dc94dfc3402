"""All measurements, one after the other: ``python -m benchmarks``. What each one measures is said by its own file."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
import sys
from pathlib import Path

PARTS = ("planning", "simulation", "idle", "startup")


def main() -> int:
    """Print date, machine and every table; not zero when a part failed."""
    today = datetime.datetime.now(datetime.timezone.utc)
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    print(f"{today:%Y-%m-%d %H:%M} UTC, {machine}")
    failed = []
    for part in PARTS:
        print(f"\n{part}", flush=True)
        # Processes of their own: each needs ROS, or must do without it.
        command = [sys.executable, str(Path(__file__).with_name(f"{part}.py"))]
        ended = subprocess.run(command, check=False, stderr=subprocess.PIPE, text=True)
        if ended.returncode != 0:
            failed.append(part)
            print(f"failed with exit code {ended.returncode}:\n{ended.stderr[-2000:]}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
