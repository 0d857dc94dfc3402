"""Tells the planner what the octomap of clients occupies, on the topic of unmodelled obstacles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from handiwork_msgs.msg import VoxelMap as VoxelMapMsg

from handiwork_core.voxels.cuboids import map_of_cuboids
from handiwork_ros.conversions import voxel_map_to_msg
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.ports.world import RosWorldSource
from handiwork_ros.rclpy_support.latched_publisher import LatchedPublisher
from moveit_facade.model.error_codes import ErrorCode, RequestError
from moveit_facade.scene.client_scene import ClientOctomap

from .planner_calls import CHECK_S, PlannerCalls

TOPIC = "world/unmodelled"
TAKEN_S = 5.0
"""The time that the planner may take to have a map, s of steady time."""
EMPTY_CELL_M = 0.02


class OctomapTeller:
    """Publishes maps, and waits until the planner has them. The newest one is repeated for a planner that starts later.

    Args:
        node: Hosts the publisher.
        source: Knows the version of the planner's scene.
        planner: Waits.
    """

    def __init__(self, node: ManagedNode, source: RosWorldSource, planner: PlannerCalls) -> None:
        self._node, self._source, self._planner = node, source, planner
        self._publisher = LatchedPublisher(node, VoxelMapMsg, TOPIC)
        self._version = 0

    def stop(self) -> None:
        """Stop repeating the newest map."""
        self._publisher.forget()

    def check_alone(self) -> None:
        """Refuse an octomap while another node publishes maps: the planner has one map, the newest.

        Raises:
            RequestError: The name of the other node.
        """
        me = (self._node.get_name(), self._node.get_namespace())
        found = self._node.get_publishers_info_by_topic(TOPIC)
        others = sorted({one.node_name for one in found if (one.node_name, one.node_namespace) != me})
        if others:
            text = (
                f"world.octomap cannot be taken: {others[0]} publishes {TOPIC}, and the planner has one map; "
                "give it the points as a cloud, or start without it"
            )
            raise RequestError(ErrorCode.UNRECOGNIZED_GOAL_TYPE, text, TOPIC)

    async def tell(self, octomap: ClientOctomap | None) -> None:
        """Publish what an octomap occupies, and wait until the planner has it.

        Args:
            octomap: The octomap; None: nothing is occupied.

        Raises:
            RequestError: COMMUNICATION_FAILURE, when the planner did not take it.
        """
        none = np.zeros((0, 3))
        voxels = map_of_cuboids(none, none, EMPTY_CELL_M) if octomap is None else octomap.voxels
        self._version += 1
        before = self._source.snapshot().planner_version
        self._publisher.publish(voxel_map_to_msg(replace(voxels, version=self._version)))
        for _ in range(round(TAKEN_S / CHECK_S)):
            await self._planner.pause(CHECK_S)
            if self._source.snapshot().planner_version != before:
                return
        text = f"planner_node did not take the map on {TOPIC} within {TAKEN_S:g} s; send the scene again"
        raise RequestError(ErrorCode.COMMUNICATION_FAILURE, text, TOPIC)
