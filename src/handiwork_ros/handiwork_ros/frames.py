"""Transforms without tf2, which the wheels lack: the newest of each frame, looked up without waiting."""

from __future__ import annotations

import threading

from geometry_msgs.msg import TransformStamped
from rclpy.clock import JumpThreshold
from rclpy.duration import Duration
from rclpy.node import Node

from handiwork_core.config import nearest
from handiwork_core.geometry import Pose
from handiwork_core.outcome import Code, Outcome
from tf2_msgs.msg import TFMessage

from .conversions import BadMessage, transform_from_msg
from .guards import guard
from .qos import TF, TF_STATIC


class UnknownFrame(LookupError):
    """A frame is not known, or two frames are not connected. ``outcome`` says which and lists what is known."""

    def __init__(self, message: str, field: str = "") -> None:
        self.outcome = Outcome(Code.UNKNOWN_FRAME, message, field_name=field)
        super().__init__(message)


class FrameBuffer:
    """The newest transform to each frame from its parent: ``world``, ``<robot>/<link>`` and object names.

    ``dynamic=False`` reads ``/tf_static`` only. Safe from any thread; transforms are decoded when they are looked up.
    """

    def __init__(self, node: Node, *, dynamic: bool = True) -> None:
        self._lock = threading.Lock()
        self._links: dict[str, TransformStamped] = {}
        self._static: dict[str, TransformStamped] = {}
        back = JumpThreshold(min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=False)
        self._jump = node.get_clock().create_jump_callback(
            back, post_callback=guard(node, lambda _jump: self.forget_dynamic())
        )
        self._subs = [
            node.create_subscription(TFMessage, "/tf_static", guard(node, self._on_static), TF_STATIC)
        ]
        if dynamic:
            self._subs.append(node.create_subscription(TFMessage, "/tf", guard(node, self._on_dynamic), TF))

    def lookup(self, target: str, source: str, field: str = "") -> Pose:
        """``target_T_source``.

        Raises:
            UnknownFrame: one of them is unknown, or they have no common ancestor.
            BadMessage: a transform on the way is malformed.
        """
        target, source = target.lstrip("/"), source.lstrip("/")
        known = self.known()
        for name in (target, source):
            if name not in known:
                raise UnknownFrame(f"frame {name!r} is not known; {nearest(name, known)}", field)
        up_target, up_source = self._to_root(target), self._to_root(source)
        for name, source_pose in up_source.items():
            if name in up_target:
                return up_target[name].inverse() @ source_pose
        text = f"frames {target!r} and {source!r} are not connected; publish a transform between"
        raise UnknownFrame(f"{text} {list(up_target)[-1]!r} and {list(up_source)[-1]!r}", field)

    def known(self) -> list[str]:
        """Names of all frames, sorted."""
        with self._lock:
            links = {**self._static, **self._links}
        return sorted(set(links) | {t.header.frame_id.lstrip("/") for t in links.values()})

    def forget_dynamic(self) -> None:
        """Drop what moves: done when time jumps back, since it is of another run."""
        with self._lock:
            self._links = {}

    def _to_root(self, name: str) -> dict[str, Pose]:
        """Each ancestor and the pose of ``name`` in it, nearest first."""
        with self._lock:
            links = {**self._static, **self._links}
        found = {name: Pose.identity()}
        pose = found[name]
        while name in links:
            link = links[name]
            pose = transform_from_msg(link.transform, f"transform of frame {name!r}") @ pose
            name = link.header.frame_id.lstrip("/")
            if name in found:
                raise BadMessage(
                    "tf", f"has a loop through frame {name!r}; mend its publisher", Code.UNKNOWN_FRAME
                )
            found[name] = pose
        return found

    def _on_static(self, msg: TFMessage) -> None:
        with self._lock:
            self._static.update({t.child_frame_id.lstrip("/"): t for t in msg.transforms})

    def _on_dynamic(self, msg: TFMessage) -> None:
        with self._lock:
            self._links.update({t.child_frame_id.lstrip("/"): t for t in msg.transforms})
