"""The objects of an image by their tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from handiwork_core.scene.tags import TagSpec
from perception_bridge.tags.bundle_pose import BundlePose, bundle_pose
from perception_bridge.tags.pinhole import Pinhole
from perception_bridge.tags.tag_detector import FoundTag, Gray, TagDetector


@dataclass(frozen=True, slots=True, eq=False)
class SeenObject:
    """An object in an image.

    Attributes:
        label: Its label.
        pose: Its pose in the optical frame, with deviations.
    """

    label: str
    pose: BundlePose


class TagFinder:
    """Finds objects by their tags.

    Args:
        tags: Tags by label; no tag is on two objects.
    """

    def __init__(self, tags: Mapping[str, tuple[TagSpec, ...]]) -> None:
        self._detector = TagDetector()
        self._places = {spec.id: (label, spec) for label, specs in tags.items() for spec in specs}

    def find(self, gray: Gray, camera: Pinhole) -> tuple[list[SeenObject], list[str]]:
        """Find the objects of an image. Tags that no object has are left out.

        Args:
            gray: The image, (rows, columns).
            camera: The camera.

        Returns:
            The objects, and a sentence for each fault.
        """
        found, faults = self._detector.find(gray)
        bundles = dict[str, list[tuple[TagSpec, FoundTag]]]()
        for one in found:
            if one.id in self._places:
                label, spec = self._places[one.id]
                bundles.setdefault(label, []).append((spec, one))
        seen = []
        for label, tags in bundles.items():
            pose = self._pose(label, tags, camera, faults)
            if pose is not None:
                seen.append(SeenObject(label, pose))
        return seen, faults

    def _pose(
        self, label: str, tags: Sequence[tuple[TagSpec, FoundTag]], camera: Pinhole, faults: list[str]
    ) -> BundlePose | None:
        try:
            return bundle_pose(tags, camera)
        except ValueError as error:
            faults.append(f"{label!r}: {error}")
            return None
