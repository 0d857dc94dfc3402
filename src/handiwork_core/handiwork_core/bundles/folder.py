"""The folder of the bundles, which is kept small: the oldest files go first."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from handiwork_core.process.writable_folders import state_folder

from .bundle import ENDING

KEPT, KEPT_MB = 100, 200.0
"""The greatest number and total size (MB) of the bundles that are kept."""
LEFT_OVER_S = 600.0
"""The age from which an unfinished file is one of a process that has ended, s."""


def bundle_folder(environment: Mapping[str, str]) -> Path | None:
    """Return the folder of the bundles of this user.

    Args:
        environment: Environment variables; see ``state_folder``.

    Returns:
        The folder; None if nothing is writable.
    """
    folder = state_folder(environment)
    return None if folder is None else folder / "bundles"


class BundleFolder:
    """A folder that holds bundles, at most so many of them.

    Args:
        folder: The folder; it is made with the first bundle.
        kept: Greatest number of bundles.
        kept_mb: Greatest size of all bundles together, MB.
    """

    def __init__(self, folder: Path, kept: int = KEPT, kept_mb: float = KEPT_MB) -> None:
        self.folder, self._kept, self._kept_mb = folder, kept, kept_mb
        self._numbers = itertools.count(1)  # two arms may end at once

    def next_path(self, name: str, code: str, now: datetime) -> Path:
        """Return the path of a new bundle, which sorts by time and is used by nobody else.

        Args:
            name: Name of the goal, such as ``pick``.
            code: Code of its outcome.
            now: Time of its end.
        """
        words = re.sub(r"[^A-Za-z0-9_.-]+", "-", f"{name}_{code}")[:80]
        return self.folder / f"{now:%Y%m%d-%H%M%S}-{os.getpid()}-{next(self._numbers):04d}_{words}{ENDING}"

    def bundles(self) -> list[Path]:
        """Return the bundles, oldest first."""
        return sorted(self.folder.glob(f"*{ENDING}"))

    def prune(self, now_s: float) -> int:
        """Remove the oldest bundles until the folder is within its bounds; the newest one always stays.

        Args:
            now_s: Time of the day, s since 1970.

        Returns:
            The number of removed bundles.
        """
        for part in self.folder.glob(f".*{ENDING}.part"):
            if now_s - _stat(part)[1] > LEFT_OVER_S:
                part.unlink(missing_ok=True)
        files = self.bundles()
        sizes = [_stat(path)[0] for path in files]
        removed = 0
        while len(files) - removed > 1 and (
            len(files) - removed > self._kept or sum(sizes[removed:]) > self._kept_mb * 1e6
        ):
            files[removed].unlink(missing_ok=True)
            removed += 1
        return removed


def _stat(path: Path) -> tuple[int, float]:
    """Return size in bytes and time of change; zeros for a file that another process has removed."""
    try:
        found = path.stat()
    except OSError:
        return 0, float("inf")
    return found.st_size, found.st_mtime
