"""The pictures of a data set: for each episode and camera a video and a file of depths, labels and camera poses."""

from __future__ import annotations

import contextlib
import io
import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_data.dataset.folder import PER_FOLDER, DatasetFolder
from handiwork_data.episodes.episode import Column, EpisodeError, write_atomically

IMAGES, ABOUT, META = "images", "images.json", "meta"
OUTPUTS = ("color", "depth", "labels")


@dataclass(frozen=True)
class ImagesAbout:
    """What all pictures of a folder have in common.

    Attributes:
        cameras: Names of the cameras.
        digest: SHA-256 of their file.
        outputs: What is drawn: some of ``OUTPUTS``.
        seed: Seed of the looks.
    """

    cameras: tuple[str, ...]
    digest: str
    outputs: tuple[str, ...]
    seed: int


@dataclass(frozen=True)
class CameraMeta:
    """What is known of the pictures of one camera in one episode.

    Attributes:
        episode: Number of the episode.
        digest: SHA-256 of the episode's file.
        camera: Name of the camera.
        link: Link that carries it; empty: it is fixed in ``world``.
        width: Columns.
        height: Rows.
        rate_hz: Pictures a second.
        bodies: Names of the bodies; ``labels`` are 1 + the place in this list, and 0 for none.
    """

    episode: int
    digest: str
    camera: str
    link: str
    width: int
    height: int
    rate_hz: int
    bodies: tuple[str, ...]


class ImageFolder:
    """Pictures of a data set with the same cameras and look.

    Args:
        folder: The data set.
        name: Name of the pictures: a data set can have several.
    """

    def __init__(self, folder: DatasetFolder, name: str) -> None:
        if not name.isidentifier():
            raise ConfigError("--name", [f"is {name!r}; use letters, digits and _"])
        self.path = folder.path / IMAGES / name

    def about(self) -> ImagesAbout | None:
        """Return what the pictures have in common; None where there are none.

        Raises:
            ConfigError: The file is damaged.
        """
        file = self.path / ABOUT
        if not file.exists():
            return None
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
            return ImagesAbout(**{**data, **{key: tuple(data[key]) for key in ("cameras", "outputs")}})
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise ConfigError(str(file), [f"cannot be read: {error}; give another --name"]) from error

    def begin(self, about: ImagesAbout) -> None:
        """Note what the pictures have in common, or check that it is the same.

        Args:
            about: What they have in common.

        Raises:
            ConfigError: The folder holds pictures of other cameras or looks.
            EpisodeError: The folder cannot be written.
        """
        there = self.about()
        if there is None:
            write_atomically(self.path / ABOUT, (json.dumps(asdict(about), indent=1) + "\n").encode())
        elif there != about:
            old, new = asdict(there), asdict(about)
            named = ", ".join(key for key in old if old[key] != new[key])
            raise ConfigError(str(self.path), [f"holds pictures with other {named}; give another --name"])

    def locked(self, shard: str) -> contextlib.AbstractContextManager[None]:
        """Keep a second run of a shard out of the folder; see ``DatasetFolder.locked``.

        Args:
            shard: Name of the shard.
        """
        return DatasetFolder(self.path).locked(shard)

    def video(self, episode: int, camera: str) -> Path:
        """Return the path of a video.

        Args:
            episode: Number of the episode.
            camera: Name of the camera.
        """
        return self._folder(episode) / f"{camera}.mp4"

    def values(self, episode: int, camera: str) -> Path:
        """Return the path of depths, labels and camera poses. It is written last: its episode and camera are whole.

        Args:
            episode: Number of the episode.
            camera: Name of the camera.
        """
        return self._folder(episode) / f"{camera}.npz"

    def _folder(self, episode: int) -> Path:
        return self.path / f"{episode // PER_FOLDER:06d}" / f"episode_{episode:09d}"

    @contextmanager
    def part(self, path: Path) -> Iterator[Path]:
        """Give the path of a new file, which gets its name once it is whole.

        Args:
            path: The file.

        Raises:
            EpisodeError: It cannot be written.
        """
        part = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            yield part
            with part.open("rb") as file:
                os.fsync(file.fileno())
            part.replace(path)
        except OSError as error:
            text = f"{path} was not written: {error.strerror or error}"
            raise EpisodeError(f"{text}; make room, then run the same command again") from error
        finally:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)

    def write_values(self, meta: CameraMeta, columns: Mapping[str, Column]) -> None:
        """Write depths, labels and camera poses.

        Args:
            meta: What is known of them.
            columns: Arrays by name.

        Raises:
            EpisodeError: The disk is full, or the folder cannot be written.
        """
        buffer, text = io.BytesIO(), json.dumps(asdict(meta), sort_keys=True)
        arrays = {name: columns[name] for name in sorted(columns)}
        np.savez_compressed(buffer, **{META: np.frombuffer(text.encode(), dtype=np.uint8)}, **arrays)  # type: ignore[arg-type]
        write_atomically(self.values(meta.episode, meta.camera), buffer.getvalue())

    def read_values(
        self, episode: int, camera: str, names: tuple[str, ...] = ()
    ) -> tuple[CameraMeta, dict[str, Column]]:
        """Read depths, labels and camera poses.

        Args:
            episode: Number of the episode.
            camera: Name of the camera.
            names: Names of the arrays; empty for all.

        Raises:
            EpisodeError: The file is missing or damaged.
        """
        path = self.values(episode, camera)
        try:
            with np.load(path, allow_pickle=False) as archive:
                wanted = names or tuple(name for name in archive.files if name != META)
                columns = {name: archive[name] for name in wanted}
                meta = json.loads(archive[META].tobytes())
            return CameraMeta(**{**meta, "bodies": tuple(meta["bodies"])}), columns
        except FileNotFoundError as error:
            text = f"episode {episode} has no pictures of camera {camera!r} in {self.path}"
            raise EpisodeError(f"{text}; run `handiwork render` first") from error
        except (zipfile.BadZipFile, KeyError, ValueError, TypeError, OSError, EOFError) as error:
            text = f"{path} is damaged ({type(error).__name__}: {error})"
            raise EpisodeError(f"{text}; delete it, then render it again") from error
