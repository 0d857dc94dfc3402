"""``handiwork conditions`` when the node whose table it shows has ended."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from support.nodes.conditions_peer import playing

COMMAND = "import sys; from handiwork_cli.cli import main; sys.exit(main(sys.argv[1:]))"


def test_the_live_table_is_marked_when_the_node_has_ended(tmp_path: Path) -> None:
    file = tmp_path / "conditions.yaml"
    file.write_text("conditions: [{name: object_in_container, args: {object: cube, container: bin}}]")
    with playing(file):
        run = subprocess.Popen(
            [sys.executable, "-c", COMMAND, "conditions"], stdout=subprocess.PIPE, text=True, env=os.environ
        )
        assert run.stdout is not None
        # The first tables may be of before the first message of the world.
        shown = next(line for line in run.stdout if line.startswith("TRUE"))
        assert "object_in_container" in shown
    try:
        marked = next(line for line in run.stdout if line.startswith("OLD:"))
        assert "conditionals_node has ended or does not run" in marked
    finally:
        run.kill()
        run.communicate()
