"""The map of cells that cameras have found occupied, as the octomap that clients are shown."""

from __future__ import annotations

import threading

import numpy as np
from handiwork_msgs.msg import VoxelMap as VoxelMapMsg
from rclpy.serialization import deserialize_message

from handiwork_core.voxels.voxel_map import VoxelMap
from handiwork_ros.conversions import voxel_map_from_msg
from handiwork_ros.intake.topic_intake import TopicIntake, taken
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.rclpy_support.polled_group import PolledGroup
from handiwork_ros.rclpy_support.qos import LATCHED
from moveit_facade.messages.ros.writing import octomap_message
from octomap_msgs.msg import OctomapWithPose

from .octomap_teller import TOPIC


class UnmodelledMap:
    """Reads the newest map when it is asked for; maps do not wake the executor.

    Args:
        node: Hosts the subscription, and logs maps that are dropped.
    """

    def __init__(self, node: ManagedNode) -> None:
        log = node.get_logger().warning
        self._intake = TopicIntake[VoxelMap | None](TOPIC, _read, None, threading.Lock(), log, VoxelMapMsg)
        self._sub = node.create_subscription(
            VoxelMapMsg, TOPIC, self._intake.take, LATCHED, callback_group=PolledGroup(), raw=True
        )
        self._written: tuple[VoxelMap | None, OctomapWithPose] = (None, OctomapWithPose())

    def message(self) -> OctomapWithPose:
        """Return the map; empty where no cell is occupied, and without a map."""
        if found := taken(self._sub):
            self._intake.offer(found)
        voxels = self._intake.value()
        if voxels is not self._written[0]:
            occupied = voxels is not None and voxels.occupied.any()
            self._written = voxels, octomap_message(voxels) if voxels and occupied else OctomapWithPose()
        return self._written[1]

    def is_same(self, msg: OctomapWithPose) -> bool:
        """Check whether a client sends the map back that it was shown.

        Args:
            msg: Its octomap.
        """
        shown, octomap = self._written[1], msg.octomap
        return bool(shown.octomap.id) and (
            octomap.id == shown.octomap.id
            and octomap.binary == shown.octomap.binary
            and octomap.resolution == shown.octomap.resolution
            and msg.origin == shown.origin
            and np.array_equal(octomap.data, shown.octomap.data)
        )


def _read(data: bytes) -> VoxelMap:
    return voxel_map_from_msg(deserialize_message(data, VoxelMapMsg), TOPIC)
