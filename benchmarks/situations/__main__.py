"""``python -m benchmarks.situations record|draw|page``: states, pictures and the page of the labelled situations."""

from __future__ import annotations

import argparse
from pathlib import Path

from handiwork_core.robot_files.loader import load_robot

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    """Do one step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=("record", "draw", "page"))
    parser.add_argument("--only", default="", help="beginning of the keys that are recorded or drawn again")
    options = parser.parse_args()
    robot = load_robot(ROOT / "src/robot_description/robots/fr3")
    if options.step == "record":
        from .record import record

        print(f"{record(robot, options.only)} situations")
    elif options.step == "draw":
        from .draw import draw

        print(f"{draw(robot, options.only) / 1e6:.2f} MB of pictures")
    else:
        from .page import write_page

        print(write_page(robot))


if __name__ == "__main__":
    main()
