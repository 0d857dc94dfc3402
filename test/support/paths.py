"""Where the repository and its data lie, however deep the folder of a test is."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROBOTS = ROOT / "src" / "robot_description" / "robots"
DATA = ROOT / "test" / "data"
