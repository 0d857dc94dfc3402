"""``<Isaac Sim>/python.sh -m isaac_bridge.isaac_app stage.usda``: see docs/how-to/isaac-sim.md."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .app import IsaacApp
from .stage_index import BadStage
from .startup_sequence import bring_up
from .versions import UnsupportedError


def main() -> int:
    """Runs until the window is closed; 1 and one sentence where it cannot."""
    parser = argparse.ArgumentParser(
        description="Open an exported stage in Isaac Sim and bridge it to ROS 2."
    )
    parser.add_argument("stage", type=Path, help="what `handiwork export-usd` wrote")
    parser.add_argument("--headless", action="store_true", help="without a window")
    options = parser.parse_args()
    door = None
    try:
        door = IsaacApp(headless=options.headless)
        session = bring_up(door, options.stage)
        from .ros.bridge_topics import Voice  # rclpy is there only since the bridge is enabled

        voice = Voice(session)
        while door.is_running():
            door.update()
            voice.between_frames()
        voice.close()
    except (UnsupportedError, BadStage) as error:
        print(error, file=sys.stderr)  # noqa: T201 to the person who started it
        return 1
    finally:
        if door is not None:
            door.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
