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
    """Run until the window is closed.

    Returns:
        Exit code: 0, or 1 after one sentence on stderr when this version or the stage is not supported.
    """
    parser = argparse.ArgumentParser(
        description="Open an exported stage in Isaac Sim and bridge it to ROS 2."
    )
    parser.add_argument("stage", type=Path, help="what `handiwork export-usd` wrote")
    parser.add_argument("--headless", action="store_true", help="without a window")
    options = parser.parse_args()
    app = None
    try:
        app = IsaacApp(headless=options.headless)
        session = bring_up(app, options.stage)
        from .ros.bridge_topics import BridgeTopics  # rclpy can be imported only after the bridge is enabled

        topics = BridgeTopics(session)
        while app.is_running():
            app.update()
            topics.between_frames()
        topics.close()
    except (UnsupportedError, BadStage) as error:
        print(error, file=sys.stderr)  # noqa: T201 to the person who started it
        return 1
    finally:
        if app is not None:
            app.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
