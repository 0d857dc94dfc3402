"""What an export reads: episodes of a data set or of a recording, and their pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from handiwork_data.dataset.folder import About, DatasetFolder
from handiwork_data.episodes.episode import Episode, EpisodeError, digest_of
from handiwork_data.rendering.image_folder import CameraMeta, ImageFolder


@dataclass(frozen=True)
class Source:
    """Episodes with their pictures.

    Attributes:
        about: What the episodes have in common.
        numbers: Numbers of the episodes.
        read: Reads one by its number.
        images: Their pictures; None without any.
        cameras: Names of the cameras whose videos are taken along.
    """

    about: About
    numbers: Sequence[int]
    read: Callable[[int], Episode]
    images: ImageFolder | None = None
    cameras: tuple[str, ...] = ()

    def camera_meta(self, number: int, camera: str) -> CameraMeta:
        """Return what is known of the pictures of a camera in an episode.

        Args:
            number: Number of the episode.
            camera: Name of the camera.

        Raises:
            EpisodeError: They are missing or damaged.
        """
        if self.images is None:
            raise EpisodeError("there are no pictures; run `handiwork render` first")
        meta, _ = self.images.read_values(number, camera, ("intrinsics",))
        return meta


def source_of(folder: DatasetFolder, numbers: Sequence[int], images: ImageFolder | None = None) -> Source:
    """Return the episodes of a data set.

    Args:
        folder: The data set.
        numbers: Numbers of the episodes.
        images: Their pictures; None to leave them out.

    Raises:
        EpisodeError: The folder is no data set, pictures are missing, or are of other episodes.
    """
    about = folder.about()
    if about is None:
        raise EpisodeError(f"{folder.path} is no data set; give a folder that `handiwork generate` wrote")
    there = images.about() if images is not None else None
    cameras = there.cameras if there is not None and "color" in there.outputs else ()
    source = Source(about, numbers, folder.read, images, cameras)
    for number in numbers if cameras else ():
        digest = digest_of(folder.file_of(number).read_bytes())
        for camera in cameras:
            if source.camera_meta(number, camera).digest != digest:
                text = f"the pictures of camera {camera!r} are of another episode {number}"
                raise EpisodeError(f"{text}; delete them, then render it again")
    return source
