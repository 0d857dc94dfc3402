"""Writes LeRobotDataset v3.0: many episodes in a file of rows, and in a video."""

from __future__ import annotations

import json
import math
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
from .video_files import Placed, VideoFiles

DATA_MB, VIDEO_MB = 100, 200
"""Sizes from which the next file begins."""
DATA = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
VIDEO = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
EPISODES = "meta/episodes/chunk-000/file-000.parquet"
TASKS = "meta/tasks.parquet"


class V3Writer:
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
        self._rows_file: Any = None
        self._file, self._bytes = -1, 0
        self._videos: dict[str, VideoFiles] = {}
        self._table: list[dict[str, Any]] = []

    def write(self) -> int:
        """Write everything; return the number of rows.

        Raises:
            EpisodeError: An episode or a picture is damaged.
            OSError: The disk is full.
        """
        try:
            for rows in self._reader:
                self._add(rows)
        finally:
            if self._rows_file is not None:
                self._rows_file.close()
            for files in self._videos.values():
                files.close()
        self._write_meta()
        return self._reader.rows

    def _add(self, rows: Rows) -> None:
        table = table_of(self._arrow, rows)
        if self._rows_file is None or self._bytes > DATA_MB * 1e6:
            if self._rows_file is not None:
                self._rows_file.close()
            self._file, self._bytes = self._file + 1, 0
            path = self._out / DATA.format(**_numbers(self._file))
            path.parent.mkdir(parents=True, exist_ok=True)
            self._rows_file = self._parquet.ParquetWriter(path, table.schema, compression="snappy")
        # One group of rows for each episode: a reader can take it alone.
        self._rows_file.write_table(table, row_group_size=rows.count)
        self._bytes += table.nbytes
        chunk = _numbers(self._file)
        row = {
            "episode_index": rows.index,
            "tasks": [rows.episode.meta.instruction or rows.episode.meta.task],
            "length": rows.count,
            "data/chunk_index": chunk["chunk_index"],
            "data/file_index": chunk["file_index"],
            "dataset_from_index": rows.begin,
            "dataset_to_index": rows.begin + rows.count,
            "meta/episodes/chunk_index": 0,
            "meta/episodes/file_index": 0,
        }
        for camera in self._plan.source.cameras:
            row |= self._add_video(rows, camera)
        for name, one in rows.stats.items():
            row |= {f"stats/{name}/{key}": value.tolist() for key, value in one.items()}
        said = about_episode(self._plan.source, rows.episode)
        if said["handiwork/margin"] is None:
            said["handiwork/margin"] = math.nan  # a column of numbers, also where no episode has one
        self._table.append(row | said)

    def _add_video(self, rows: Rows, camera: str) -> dict[str, Any]:
        key, images = self._plan.video_key(camera), self._plan.source.images
        assert images is not None
        if camera not in self._videos:
            self._videos[camera] = VideoFiles(
                lambda file: self._out / VIDEO.format(video_key=key, **_numbers(file)),
                self._reader.rate_hz,
                int(VIDEO_MB * 1e6),
            )
        placed: Placed = self._videos[camera].add(images.video(rows.episode.meta.episode, camera), rows.count)
        return {
            **{f"videos/{key}/{name}": value for name, value in _numbers(placed.file).items()},
            f"videos/{key}/from_timestamp": placed.from_s,
            f"videos/{key}/to_timestamp": placed.to_s,
        }

    def _write_meta(self) -> None:
        reader, plan = self._reader, self._plan
        info = {
            "codebase_version": "v3.0",
            "robot_type": plan.source.about.robot,
            "total_episodes": reader.episodes,
            "total_frames": reader.rows,
            "total_tasks": len(reader.tasks),
            "chunks_size": PER_FOLDER,
            "data_files_size_in_mb": DATA_MB,
            "video_files_size_in_mb": VIDEO_MB,
            "fps": reader.rate_hz,
            "splits": {"train": f"0:{reader.episodes}"},
            "data_path": DATA,
            "video_path": VIDEO if plan.source.cameras else None,
            "features": features_info(reader, plan.video_key),
        }
        (self._out / EPISODES).parent.mkdir(parents=True, exist_ok=True)
        (self._out / "meta/info.json").write_text(json.dumps(info, indent=4) + "\n", encoding="utf-8")
        stats = json.dumps(plain(reader.together()), indent=4)
        (self._out / "meta/stats.json").write_text(stats + "\n", encoding="utf-8")
        self._parquet.write_table(self._arrow.Table.from_pylist(self._table), self._out / EPISODES)
        self._parquet.write_table(self._tasks(), self._out / TASKS)

    def _tasks(self) -> Any:  # noqa: ANN401 - pyarrow may be missing
        """Return the table of sentences; readers expect the sentence as an index of pandas."""
        texts = list(sentences(self._reader.tasks))
        table = self._arrow.table({"task_index": list(range(len(texts))), "task": texts})
        index = {
            "index_columns": ["task"],
            "column_indexes": [],
            "columns": [
                {"name": "task_index", "field_name": "task_index", "pandas_type": "int64",
                 "numpy_type": "int64", "metadata": None},
                {"name": "task", "field_name": "task", "pandas_type": "unicode", "numpy_type": "object",
                 "metadata": None},
            ],
            "pandas_version": "2.0.0",
        }  # fmt: skip
        return table.replace_schema_metadata({"pandas": json.dumps(index)})


def _numbers(file: int) -> dict[str, int]:
    return {"chunk_index": file // PER_FOLDER, "file_index": file % PER_FOLDER}
