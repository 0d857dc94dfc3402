"""The objects and bodies whose poses or contacts differ between two snapshots."""

from __future__ import annotations

from collections.abc import Iterable

from handiwork_core.model.world import Contact, ObjectState, World


def moved_objects(before: World, after: World) -> Iterable[str]:
    """Return the objects that are new, gone, or have another pose, twist or covariance.

    Args:
        before: A snapshot.
        after: A later one.
    """
    old = before.states
    for name, state in after.states.items():
        last = old.get(name)
        if last is None or not _is_same(last, state):
            yield name
    yield from old.keys() - after.states.keys()


def _is_same(a: ObjectState, b: ObjectState) -> bool:
    same_twist = a.world_v_object is b.world_v_object and a.world_w_object is b.world_w_object
    same_pose = a.world_T_object is b.world_T_object and a.pose_covariance is b.pose_covariance
    return a is b or (same_pose and same_twist)


def pressed_bodies(before: World, after: World) -> frozenset[str]:
    """Return the bodies that have a changed contact; those of all contacts where the source came or went.

    Args:
        before: A snapshot.
        after: A later one.
    """
    if before.contacts is after.contacts:
        return frozenset()
    if before.contacts is None or after.contacts is None:
        return frozenset([*before.states, *after.states, *_bodies(after.contacts or before.contacts or ())])
    # The decoder keeps unchanged contacts as they are, so they compare by identity.
    return frozenset(_bodies(set(before.contacts) ^ set(after.contacts)))


def _bodies(contacts: Iterable[Contact]) -> Iterable[str]:
    for contact in contacts:
        yield contact.a
        yield contact.b
