"""What changes the planner's own scene: attach, detach, update, and the topic of unmodelled obstacles.

All of it is short and runs on the executor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from handiwork_msgs import srv
from handiwork_msgs.msg import PlanningScene, VoxelMap, WorldObjects

from handiwork_core.contracts.planning import Attachment, SceneQuery
from handiwork_core.intake.limits import OBJECTS
from handiwork_core.model.outcome import OK, Code
from handiwork_core.voxels.voxel_map import VoxelMap as Voxels
from handiwork_ros import conversions as to
from handiwork_ros.rclpy_support.latched_publisher import LatchedPublisher
from handiwork_ros.rclpy_support.qos import LATCHED
from handiwork_ros.rclpy_support.safe_callbacks import guard, guard_service, with_outcome
from planner_node.pipeline.request_checks import RequestRefused, check_scene

if TYPE_CHECKING:
    from .services import PlanningServices

UNMODELLED_TOPIC = "world/unmodelled"


def add_scene_services(services: PlanningServices) -> Callable[[], None]:
    """Create the three services and the subscription on the node.

    Args:
        services: The planner's services, with the node and the pipeline.

    Returns:
        A function that publishes the planner's own scene; call it also when the services open. A client that
        supervises a motion under way has it judged again when the version changes.
    """
    node = services.node
    obstacles = LatchedPublisher(node, WorldObjects, "planner/obstacles")
    attached = LatchedPublisher(node, PlanningScene, "planner/attached")
    newest: list[Voxels] = []

    def publish() -> None:
        pipeline = services.ready_pipeline()
        if newest:
            pipeline.table.see(newest.pop())
        version, items = pipeline.table.own()
        world = pipeline.readers.snapshot()
        # First the attachments: the version of the obstacles rises with both, and makes clients judge again.
        attached.publish(to.scene_to_msg(SceneQuery(attached=pipeline.table.attached(world))))
        obstacles.publish(to.world_objects_to_msg(items, version, world.stamp_s))

    def see(message: VoxelMap) -> None:
        try:
            newest[:] = [to.voxel_map_from_msg(message, UNMODELLED_TOPIC)]
        except to.BadMessage as error:
            text = f"a map of unmodelled obstacles was dropped, the one before counts: {error}"
            node.get_logger().error(text, throttle_duration_sec=5.0)
            return
        if services.pipeline is not None:
            publish()

    def attach(request: Any, response: Any) -> Any:
        pipeline, msg = services.ready_pipeline(), request.attachment
        item = to.attachment_from_msg(msg)
        world = pipeline.table.merged(pipeline.readers.snapshot())
        check_scene(SceneQuery(attached=(item,)), world, pipeline.robot, "attachment")
        if request.use_current_pose:
            if item.object not in world.states:
                raise RequestRefused(
                    Code.STALE_WORLD,
                    f"no pose was received for {item.object!r}; send pose",
                    "attachment.pose",
                )
            link = f"{pipeline.robot.name}/{item.link}"
            world_T_link = services.frames.lookup("world", link, "attachment.link")
            item = Attachment(
                item.object, item.link, world_T_link.inverse() @ world.states[item.object].world_T_object
            )
        pipeline.table.attach(item)
        publish()
        return with_outcome(response, OK)

    def detach(request: Any, response: Any) -> Any:
        services.ready_pipeline().table.detach(request.object)
        publish()
        return with_outcome(response, OK)

    def update(request: Any, response: Any) -> Any:
        pipeline = services.ready_pipeline()
        for name in ("add", "add_poses", "remove"):
            to.at_most(name, len(getattr(request, name)), OBJECTS, "entries")
        add = [to.world_object_from_msg(o, f"add[{i}]") for i, o in enumerate(request.add)]
        poses = [to.pose_from_msg(p, f"add_poses[{i}]") for i, p in enumerate(request.add_poses)]
        response.world_version = pipeline.table.update(
            pipeline.readers.snapshot(), add, poses, request.remove
        )
        publish()
        return with_outcome(response, OK)

    handlers: dict[str, tuple[Any, Any]] = {
        "attach_object": (srv.AttachObject, attach),
        "detach_object": (srv.DetachObject, detach),
        "update_scene": (srv.UpdateScene, update),
    }
    for name, (kind, handler) in handlers.items():
        node.create_service(kind, f"planner/{name}", guard_service(node, handler))
    node.create_subscription(VoxelMap, UNMODELLED_TOPIC, guard(node, see), LATCHED)
    return publish
