"""Make the editable wheels of several packages in one process: ``python editable_wheels.py FOLDER PACKAGE...``.

``pip install -e`` starts three processes for each package, which takes four times as long.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from setuptools import build_meta


def main() -> int:
    """Make the wheels, each in a fork, as setuptools keeps state; return the exit status."""
    folder, packages = Path(sys.argv[1]).resolve(), sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    children = {}
    for package in packages:
        if (pid := os.fork()) == 0:
            os.chdir(package)
            sys.argv = ["setup.py"]
            build_meta.build_editable(str(folder), {"--editable-mode": "compat"})
            os._exit(0)
        children[pid] = package
    failed = [package for pid, package in children.items() if os.waitpid(pid, 0)[1] != 0]
    for package in failed:
        print(f"{package}: setuptools could not make its editable wheel")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
