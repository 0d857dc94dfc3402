"""Make the wheel of an interface package: ``python interface_wheel.py FOLDER PACKAGE KEY=VALUE...``.

The values are settings of scikit-build-core. ``pip wheel`` does the same, but starts three more processes.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from scikit_build_core.build import build_wheel


def main() -> None:
    """Make the wheel."""
    folder, package = Path(sys.argv[1]).resolve(), sys.argv[2]
    settings = dict(setting.split("=", 1) for setting in sys.argv[3:])
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(package)
    build_wheel(str(folder), settings)


if __name__ == "__main__":
    main()
