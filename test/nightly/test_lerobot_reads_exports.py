"""LeRobot itself reads an exported data set, in an environment of its own.

``build/lerobot`` needs Python 3.12 and 5 GB, or Python 3.11 and 9 GB with the last version that it can have::

    python3.12 -m venv build/lerobot && build/lerobot/bin/pip install 'lerobot[dataset]==0.6.1'
    python3.11 -m venv build/lerobot && build/lerobot/bin/pip install lerobot==0.4.4
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from handiwork_data.export.lerobot import export_lerobot
from handiwork_data.export.name_maps import lerobot_features
from handiwork_data.export.source import source_of
from support.paths import ROOT
from support.records.episodes import tiny_episode, tiny_folder, tiny_images

pytestmark = pytest.mark.timeout(1800)
LEROBOT = ROOT / "build/lerobot/bin/python"
SAMPLES, NUMBERS = 8, (1, 2, 5)
READ = """
import sys
import numpy as np
from lerobot.datasets.lerobot_dataset import LeRobotDataset
data = LeRobotDataset("local/tidy", root=sys.argv[1], video_backend="pyav",
                      delta_timestamps={"action": [0.0, 0.04]})
samples, numbers = 8, (1, 2, 5)
assert (data.num_episodes, data.num_frames) == (3, 3 * (samples - 1)), (data.num_episodes, data.num_frames)
for index in range(len(data)):
    item = data[index]
    episode, frame = divmod(index, samples - 1)
    assert item["task"] == "Put it away."
    assert (int(item["episode_index"]), int(item["frame_index"])) == (episode, frame)
    assert np.allclose(item["observation.state"], [frame, 0.02 + 0.001 * frame], atol=1e-6)
    following = min(frame + 1, samples - 2)
    assert np.allclose(item["action"][:, 0], [11.0 + frame, 11.0 + following]), item["action"]
    color = item["observation.images.head"].mean(dim=(1, 2)).numpy() * 255
    wanted = (40 * numbers[episode], 20 + 25 * frame, 200)
    assert np.abs(color - wanted).max() < 4, (index, color, wanted)
row = data.meta.episodes[1]
assert row["handiwork/seed"] == 2 and row["handiwork/success"] is False
print("read", len(data))
"""


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lerobot")
    folder = tiny_folder(path / "set", *(tiny_episode(number, samples=SAMPLES) for number in NUMBERS))
    source = source_of(folder, NUMBERS, tiny_images(folder))
    export_lerobot(source, path / "lerobot-v3", "lerobot-v3", ("lerobot", lerobot_features))
    return path


def test_lerobot_reads_rows_and_pictures_in_order_and_colour(exported: Path) -> None:
    if not LEROBOT.exists():
        pytest.skip("there is no build/lerobot: the head of this file says how to make it")
    run = subprocess.run(
        [LEROBOT, "-c", READ, exported / "lerobot-v3"],
        capture_output=True,
        text=True,
        check=False,
        timeout=1500,
    )
    assert run.returncode == 0, run.stderr
    assert "read 21" in run.stdout
