"""Writes LeRobotDataset v2.1: a file of rows and a video for each episode."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from handiwork_data.dataset.folder import PER_FOLDER

from .lerobot_rows import (
    Plan,
    Reader,
    Rows,
    about_episode,
    features_info,
    need_arrow,
    plain,
    sentences,
    table_of,
)
from .video_files import VideoFiles

DATA = "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet"
VIDEO = "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4"


class V21Writer:
    """Writes a data set into a folder that is empty.

    Args:
        out: The folder.
        plan: What is exported.

    Raises:
        EpisodeError: A package is missing.
    """

    def __init__(self, out: Path, plan: Plan) -> None:
        self._arrow, self._parquet = need_arrow()
        self._out, self._plan, self._reader = out, plan, Reader(plan)

    def write(self) -> int:
        """Write everything; return the number of rows.

        Raises:
            EpisodeError: An episode or a picture is damaged.
            OSError: The disk is full.
        """
        meta = self._out / "meta"
        meta.mkdir(parents=True, exist_ok=True)
        with (
            (meta / "episodes.jsonl").open("w", encoding="utf-8") as episodes,
            (meta / "episodes_stats.jsonl").open("w", encoding="utf-8") as statistics,
        ):
            for rows in self._reader:
                self._add(rows)
                episodes.write(_line(self._row(rows)))
                statistics.write(_line({"episode_index": rows.index, "stats": plain(rows.stats)}))
        texts = enumerate(sentences(self._reader.tasks))
        lines = [_line({"task_index": number, "task": text}) for number, text in texts]
        (meta / "tasks.jsonl").write_text("".join(lines), encoding="utf-8")
        info = json.dumps(self._info(), indent=4) + "\n"
        (meta / "info.json").write_text(info, encoding="utf-8")
        return self._reader.rows

    def _add(self, rows: Rows) -> None:
        path = self._out / DATA.format(**_numbers(rows.index))
        path.parent.mkdir(parents=True, exist_ok=True)
        self._parquet.write_table(table_of(self._arrow, rows), path)
        images, number = self._plan.source.images, rows.episode.meta.episode
        for camera in self._plan.source.cameras:
            assert images is not None
            key = self._plan.video_key(camera)
            video = self._out / VIDEO.format(video_key=key, **_numbers(rows.index))
            files = VideoFiles(lambda _file, path=video: path, self._reader.rate_hz, 0)  # type: ignore[misc]
            try:
                files.add(images.video(number, camera), rows.count)
            finally:
                files.close()

    def _row(self, rows: Rows) -> dict[str, Any]:
        sentence = rows.episode.meta.instruction or rows.episode.meta.task
        row = {"episode_index": rows.index, "tasks": [sentence], "length": rows.count}
        return row | about_episode(self._plan.source, rows.episode)

    def _info(self) -> dict[str, Any]:
        reader, cameras = self._reader, self._plan.source.cameras
        return {
            "codebase_version": "v2.1",
            "robot_type": self._plan.source.about.robot,
            "total_episodes": reader.episodes,
            "total_frames": reader.rows,
            "total_tasks": len(reader.tasks),
            "total_videos": reader.episodes * len(cameras),
            "total_chunks": -(-reader.episodes // PER_FOLDER),
            "chunks_size": PER_FOLDER,
            "fps": reader.rate_hz,
            "splits": {"train": f"0:{reader.episodes}"},
            "data_path": DATA,
            "video_path": VIDEO if cameras else None,
            "features": features_info(reader, self._plan.video_key),
        }


def _numbers(index: int) -> dict[str, int]:
    return {"episode_chunk": index // PER_FOLDER, "episode_index": index}


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value) + "\n"
