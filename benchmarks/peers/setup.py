"""Make the peers' environments below ``.bench/``: ``python -m benchmarks.peers.setup [--only roboplan,mplib]``."""

from __future__ import annotations

import argparse
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

HOME = Path(__file__).parents[2] / ".bench"


@dataclass(frozen=True)
class Peer:
    """A peer; ``module`` runs in the environment that ``packages`` make."""

    title: str
    module: str
    packages: tuple[str, ...]


PEERS = {
    "roboplan": Peer("RoboPlan 0.7.0", "benchmarks.peers.roboplan_peer", ("roboplan==0.7.0",)),
    "mplib": Peer("MPlib 0.2.1", "benchmarks.peers.mplib_peer", ("mplib==0.2.1",)),
    "ompl": Peer(
        "OMPL 2.0.1 with Coal 3.0.3",
        "benchmarks.peers.ompl_peer",
        ("ompl==2.0.1", "pin==4.1.0", "coal==3.0.3"),
    ),
}


def python_of(name: str) -> Path:
    """Return the interpreter of a peer's environment, whether it exists or not.

    Args:
        name: Name of the peer.
    """
    return HOME / name / "bin" / "python"


def install(name: str) -> bool:
    """Make one environment; if its packages cannot be installed, print pip's message and return False.

    Args:
        name: Name of the peer.
    """
    venv.create(HOME / name, with_pip=True, clear=True)
    command = [str(python_of(name)), "-m", "pip", "install", "-q", *PEERS[name].packages]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        python_of(name).unlink()  # an environment without the peer counts as absent
        print(f"{PEERS[name].title}: not installed: {done.stderr.strip()[-500:]}")
    return done.returncode == 0


def main() -> int:
    """Make the environments; the exit status is not zero when one failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(PEERS), help="comma-separated names")
    names = parser.parse_args().only.split(",")
    return 0 if all([install(name) for name in names]) else 1


if __name__ == "__main__":
    sys.exit(main())
