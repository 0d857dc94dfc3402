"""Joins the videos of episodes without encoding them again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handiwork_data.episodes.episode import EpisodeError
from handiwork_data.rendering.video import need_av


@dataclass(frozen=True)
class Placed:
    """Where the video of an episode went.

    Attributes:
        file: Number of the file.
        from_s: Time of its first frame in the file, s.
        to_s: Time behind its last frame, s.
    """

    file: int
    from_s: float
    to_s: float


class VideoFiles:
    """Files of one camera, each with the videos of several episodes.

    Args:
        path_of: Returns the path of a file from its number.
        rate_hz: Frames a second.
        most_bytes: Size from which the next file begins; 0: each episode has a file of its own.
    """

    def __init__(self, path_of: Callable[[int], Path], rate_hz: int, most_bytes: int) -> None:
        self._av, self._path_of, self._rate_hz, self._most = need_av(), path_of, rate_hz, most_bytes
        self._file, self._frames, self._bytes = -1, 0, 0
        self._out: Any = None
        self._stream: Any = None
        self._head = b""

    def add(self, path: Path, frames: int) -> Placed:
        """Append the first frames of a video.

        Args:
            path: The video.
            frames: Number of frames.

        Returns:
            Where they went.

        Raises:
            EpisodeError: The video is damaged, or has too few frames.
        """
        try:
            with self._av.open(str(path)) as container:
                stream = container.streams.video[0]
                self._make_room(stream)
                begin, taken = self._frames, 0
                shift = round(begin / self._rate_hz / stream.time_base)
                for packet in container.demux(stream):
                    if packet.dts is None or taken == frames:
                        continue  # the last one is empty
                    packet.pts, packet.dts = packet.pts + shift, packet.dts + shift
                    packet.stream = self._stream
                    self._bytes += packet.size
                    self._out.mux(packet)
                    taken += 1
        except (OSError, ValueError, IndexError) as error:
            raise EpisodeError(f"{path} is damaged ({error}); delete it, then render it again") from error
        if taken < frames:
            text = f"{path} has {taken} frames, and its episode {frames}"
            raise EpisodeError(f"{text}; delete it, then render it again")
        self._frames += frames
        return Placed(self._file, begin / self._rate_hz, self._frames / self._rate_hz)

    def close(self) -> None:
        """Complete the file that is open."""
        if self._out is not None:
            self._out.close()
            self._out = None

    def _make_room(self, like: Any) -> None:  # noqa: ANN401 - av may be missing
        """Begin the next file where this one is full, or is of another encoder."""
        head = bytes(like.codec_context.extradata or b"")
        if self._out is not None and self._bytes < self._most and head == self._head:
            return
        self.close()
        self._file, self._frames, self._bytes, self._head = self._file + 1, 0, 0, head
        path = self._path_of(self._file)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._out = self._av.open(str(path), "w", format="mp4")
        self._stream = self._out.add_stream_from_template(like)
