"""The folder of the bundles, which is kept small: the oldest files go first.

Bundles of goals that were refused before they ran have a share of their own, so that a program that sends bad goals
again and again does not push out the failures of goals that ran.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from handiwork_core.process.writable_folders import state_folder

from .bundle import ENDING

KEPT, KEPT_MB = 100, 200.0
"""The greatest number and total size (MB) of the bundles that are kept."""
REFUSED_SHARE = 0.25
"""The greatest share of number and size that bundles of refused goals have."""
REFUSED = f".refused{ENDING}"
"""The ending of bundles of refused goals."""
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

    def next_path(self, name: str, code: str, now: datetime, *, is_refused: bool = False) -> Path:
        """Return the path of a new bundle, which sorts by time and is used by nobody else.

        Args:
            name: Name of the goal, such as ``pick``.
            code: Code of its outcome.
            now: Time of its end.
            is_refused: True for a goal that never ran.
        """
        words = re.sub(r"[^A-Za-z0-9_.-]+", "-", f"{name}_{code}")[:80]
        ending = REFUSED if is_refused else ENDING
        return self.folder / f"{now:%Y%m%d-%H%M%S}-{os.getpid()}-{next(self._numbers):04d}_{words}{ending}"

    def bundles(self) -> list[Path]:
        """Return the bundles, oldest first."""
        return sorted(self.folder.glob(f"*{ENDING}"))

    def prune(self, now_s: float) -> int:
        """Remove the oldest bundles until the folder is within its bounds; the newest one always stays.

        First those of refused goals are brought within their share.

        Args:
            now_s: Time of the day, s since 1970.

        Returns:
            The number of removed bundles.
        """
        for part in self.folder.glob(f".*{ENDING}.part"):
            if now_s - _stat(part)[1] > LEFT_OVER_S:
                part.unlink(missing_ok=True)
        refused = [path for path in self.bundles() if path.name.endswith(REFUSED)]
        removed = _keep(refused, max(1, int(REFUSED_SHARE * self._kept)), REFUSED_SHARE * self._kept_mb)
        return removed + _keep(self.bundles(), self._kept, self._kept_mb)


def _keep(files: Sequence[Path], most: int, most_mb: float) -> int:
    """Remove the first files until at most so many are left, but never the last; return how many were removed."""
    sizes = [_stat(path)[0] for path in files]
    removed = 0
    while len(files) - removed > 1 and (len(files) - removed > most or sum(sizes[removed:]) > most_mb * 1e6):
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
