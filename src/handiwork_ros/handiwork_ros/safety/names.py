"""Names and rates of the safety layer's topics and services."""

from __future__ import annotations

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

STATE = "safety/state"
"""handiwork_msgs/SafetyState, latched."""
HEARTBEAT = "safety/heartbeat"
"""handiwork_msgs/SafetyHeartbeat from the node whose goals the arms follow."""
EMERGENCY_STOP = "safety/emergency_stop"
"""std_msgs/Bool as a topic, std_srvs/Trigger as a service."""
RESET, RECOVER, SET_SPEED_SCALE = "safety/reset", "safety/recover", "safety/set_speed_scale"

HEARTBEAT_PERIOD_S = 0.05
"""The period of heartbeats, s."""
HEARTBEATS = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.BEST_EFFORT, durability=DurabilityPolicy.VOLATILE
)
REQUESTS = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.VOLATILE)
LATCHED_REQUESTS = QoSProfile(
    depth=10, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
"""Receives requests that were latched before this node began; volatile publishers are received by ``REQUESTS``."""
