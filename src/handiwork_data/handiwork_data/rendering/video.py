"""Videos for training: two frames in a group, so that any frame is near a key frame."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handiwork_data.episodes.episode import EpisodeError

CODEC, PIXELS = "libx264", "yuv420p"
OPTIONS = {"g": "2", "bf": "0", "crf": "18", "preset": "veryfast", "threads": "1"}
"""Each second frame is a key frame, none is out of order, and the loss is hardly seen."""


def need_av() -> Any:  # noqa: ANN401 - it may be missing
    """Return the module ``av``.

    Raises:
        EpisodeError: It is missing.
    """
    try:
        import av
    except ImportError as error:
        raise EpisodeError("av is missing; install requirements/data.txt") from error
    return av


class VideoWriter:
    """Writes frames of equal size to a file.

    Args:
        path: The file.
        width: Columns, even.
        height: Rows, even.
        rate_hz: Frames a second.

    Raises:
        EpisodeError: ``av`` is missing.
        OSError: The file cannot be written.
    """

    def __init__(self, path: Path, width: int, height: int, rate_hz: int) -> None:
        self._av = need_av()
        self._container = self._av.open(str(path), "w", format="mp4")
        self._stream = self._container.add_stream(CODEC, rate=rate_hz, options=dict(OPTIONS))
        self._stream.width, self._stream.height, self._stream.pix_fmt = width, height, PIXELS

    def add(self, frame: NDArray[np.uint8]) -> None:
        """Add a frame.

        Args:
            frame: Red, green, blue, (height, width, 3).
        """
        shown = self._av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24")
        self._container.mux(self._stream.encode(shown))

    def __enter__(self) -> VideoWriter:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Complete the file."""
        if error is None:
            self._container.mux(self._stream.encode(None))
        self._container.close()


def read_frames(path: Path, wanted: set[int] | None = None) -> list[NDArray[np.uint8]]:
    """Decode frames of a video.

    Args:
        path: The file.
        wanted: Numbers of the frames; None for all.

    Returns:
        The frames in order, each (height, width, 3).

    Raises:
        EpisodeError: The file is damaged, or ``av`` is missing.
    """
    av, found = need_av(), list[NDArray[np.uint8]]()
    try:
        with av.open(str(path)) as container:
            for number, frame in enumerate(container.decode(video=0)):
                if wanted is None or number in wanted:
                    found.append(frame.to_ndarray(format="rgb24"))
    except (OSError, IndexError, ValueError) as error:
        raise EpisodeError(f"{path} is damaged ({error}); delete it, then render it again") from error
    return found
