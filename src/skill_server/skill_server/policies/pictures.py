"""The pictures of an observation, from the newest images of cameras."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from handiwork_core.contracts.reactive import Cameras
from handiwork_policy.loop.ports import Pictures
from handiwork_policy.loop.settings import CameraInput
from handiwork_policy.protocol.errors import PolicyError


class CameraPictures:
    """Pictures in the sizes that a policy wants.

    An image of another shape is stretched, as ``CellCameras`` draws it.

    Args:
        cameras: The cameras; open.
        wanted: The pictures.
    """

    def __init__(self, cameras: Cameras | None, wanted: Sequence[CameraInput]) -> None:
        self._cameras, self._wanted = cameras, tuple(wanted)

    def pictures(self) -> Pictures:
        """Return the newest pictures by key, (h, w, 3) each.

        Raises:
            PolicyError: A camera has sent none, or none for long.
        """
        return {one.key: self._picture(i, one) for i, one in enumerate(self._wanted)}

    def await_all(self, wait: Callable[[], bool]) -> None:
        """Wait until every camera has sent an image.

        Args:
            wait: Lets a short time pass; returns False once there is no more of it.

        Raises:
            PolicyError: A camera has sent none; names the field.
        """
        while self._fault() and wait():
            pass
        self.pictures()

    def _fault(self) -> str:
        try:
            self.pictures()
        except PolicyError as error:
            return str(error)
        return ""

    def _picture(self, index: int, wanted: CameraInput) -> NDArray[np.uint8]:
        field = f"cameras[{index}]"
        if self._cameras is None:
            raise PolicyError(f"{field} is given, but this robot has no cameras; take it out", field)
        found = self._cameras.picture(wanted.image_topic)
        if isinstance(found, str):
            raise PolicyError(f"{field}: {found}", field)
        return resized(found.rgb, wanted.width, wanted.height)


def resized(rgb: NDArray[np.uint8], width: int, height: int) -> NDArray[np.uint8]:
    """Return a picture in another size, as the mean of the pixels that each new one covers.

    Args:
        rgb: Pixels, (h, w, 3).
        width: Width, pixels.
        height: Height, pixels.
    """
    import cv2  # Large, and most goals have no pictures.

    if rgb.shape[:2] == (height, width):
        return rgb
    is_smaller = width * height < rgb.shape[0] * rgb.shape[1]
    method = cv2.INTER_AREA if is_smaller else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(rgb, (width, height), interpolation=method), dtype=np.uint8)
