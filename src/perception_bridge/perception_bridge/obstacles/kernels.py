"""The loops over pixels and cells, compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array
from handiwork_core.voxels.voxel_map import STEPS
from handiwork_planning.distance.shapes import to_shape
from handiwork_planning.kernels.arrays import SceneArrays
from handiwork_planning.kernels.jit import kernel

Depth = NDArray[np.float32]
Counts = NDArray[np.int32]
Kinds = NDArray[np.uint8]
Stamps = NDArray[np.float64]

NEW, KNOWN, OTHER, MIXED = 0, 1, 2, 3
"""Kinds of cells: not asked yet; wholly in known bodies; wholly beside them; partly in them."""


@kernel
def room(x: float, y: float, z: float, spheres: Array, scene: SceneArrays, paddings: Array) -> float:
    """Return the distance of a point to the padded known bodies, m.

    Args:
        x: Coordinate in ``world``, m.
        y: Coordinate in ``world``, m.
        z: Coordinate in ``world``, m.
        spheres: The robot's, (n, 4), m.
        scene: Shapes of objects.
        paddings: That of objects and that of the robot, (2,), m.
    """
    best = 1.0e9
    for i in range(len(spheres)):
        dx, dy, dz = x - spheres[i, 0], y - spheres[i, 1], z - spheres[i, 2]
        far = best + spheres[i, 3] + paddings[1]
        square = dx * dx + dy * dy + dz * dz
        if far > 0.0 and square < far * far:
            best = np.sqrt(square) - spheres[i, 3] - paddings[1]
    for s in range(len(scene.kind)):
        pose, far = scene.pose[s], best + scene.bound[s] + paddings[0]
        dx, dy, dz = x - pose[9], y - pose[10], z - pose[11]
        if far > 0.0 and dx * dx + dy * dy + dz * dz < far * far:
            best = min(best, to_shape(scene, s, x, y, z) - paddings[0])
    return best


@kernel
def is_known(x: float, y: float, z: float, spheres: Array, scene: SceneArrays, paddings: Array) -> bool:
    """Return True if a point is in a padded known body.

    Args:
        x: Coordinate in ``world``, m.
        y: Coordinate in ``world``, m.
        z: Coordinate in ``world``, m.
        spheres: The robot's, (n, 4), m.
        scene: Shapes of objects.
        paddings: That of objects and that of the robot, (2,), m.
    """
    for s in range(len(scene.kind)):
        pose, far = scene.pose[s], scene.bound[s] + paddings[0]
        dx, dy, dz = x - pose[9], y - pose[10], z - pose[11]
        if dx * dx + dy * dy + dz * dz < far * far and to_shape(scene, s, x, y, z) < paddings[0]:
            return True
    for i in range(len(spheres)):
        dx, dy, dz = x - spheres[i, 0], y - spheres[i, 1], z - spheres[i, 2]
        far = spheres[i, 3] + paddings[1]
        if dx * dx + dy * dy + dz * dz < far * far:
            return True
    return False


@kernel
def count_point(
    a: float,
    b: float,
    c: float,
    pose: Array,
    frame: Array,
    spheres: Array,
    scene: SceneArrays,
    paddings: Array,
    kinds: Kinds,
    counts: Counts,
    boxes: Kinds,
) -> None:
    """Count a point in its cell, unless it is outside of the cells or in a known body.

    Args:
        a: First coordinate in the sensor's frame, m.
        b: Second coordinate, m.
        c: Third coordinate, m.
        pose: world_T_sensor, (12,).
        frame: Corner of the cells, and edge of one, (4,), m.
        spheres: The robot's, (n, 4), m.
        scene: Shapes of objects.
        paddings: That of objects and that of the robot, (2,), m.
        kinds: Kind of each cell, written when the first point is in it, (x, y, z).
        counts: Written, (x, y, z).
        boxes: Written where there are counts: the box around the points of each cell, see ``Boxes``, (x, y, z, 6).
    """
    x = pose[0] * a + pose[1] * b + pose[2] * c + pose[9]
    y = pose[3] * a + pose[4] * b + pose[5] * c + pose[10]
    z = pose[6] * a + pose[7] * b + pose[8] * c + pose[11]
    u, v, w = (x - frame[0]) / frame[3], (y - frame[1]) / frame[3], (z - frame[2]) / frame[3]
    nx, ny, nz = kinds.shape
    if not (0.0 <= u < nx and 0.0 <= v < ny and 0.0 <= w < nz):
        return  # also if it is not a number
    i, j, k = int(u), int(v), int(w)
    kind = kinds[i, j, k]
    if kind == NEW:
        half, edge = 0.5 * np.sqrt(3.0) * frame[3], frame[3]
        cx, cy, cz = frame[0] + (i + 0.5) * edge, frame[1] + (j + 0.5) * edge, frame[2] + (k + 0.5) * edge
        gap = room(cx, cy, cz, spheres, scene, paddings)
        kind = KNOWN if gap < -half else (OTHER if gap > half else MIXED)
        kinds[i, j, k] = kind
    if kind == OTHER or (kind == MIXED and not is_known(x, y, z, spheres, scene, paddings)):
        counts[i, j, k] += 1
        place = STEPS * (u - i), STEPS * (v - j), STEPS * (w - k)
        is_first = counts[i, j, k] == 1
        for axis in range(3):
            at = np.uint8(place[axis])
            if is_first or at < boxes[i, j, k, axis]:
                boxes[i, j, k, axis] = at
            if is_first or at >= boxes[i, j, k, axis + 3]:
                boxes[i, j, k, axis + 3] = at + 1 if at < STEPS else at


@kernel
def count_depth(
    depth: Depth,
    lens: Array,
    pose: Array,
    limits: Array,
    frame: Array,
    spheres: Array,
    scene: SceneArrays,
    paddings: Array,
    kinds: Kinds,
    counts: Counts,
    boxes: Kinds,
) -> None:
    """Count the points of a depth image in their cells.

    Args:
        depth: Depths, (rows, columns), m; what is not within ``limits`` has none.
        lens: Focal lengths and principal point, (4,), pixels.
        pose: world_T_camera, (12,).
        limits: Least and greatest depth, (2,), m.
        frame: Corner of the cells, and edge of one, (4,), m.
        spheres: The robot's, (n, 4), m.
        scene: Shapes of objects.
        paddings: That of objects and that of the robot, (2,), m.
        kinds: Scratch, zeros, (x, y, z).
        counts: Written, (x, y, z).
        boxes: Written where there are counts: the box around the points of each cell, see ``Boxes``, (x, y, z, 6).
    """
    rows, columns = depth.shape
    for r in range(rows):
        for c in range(columns):
            d = depth[r, c]
            if not limits[0] <= d <= limits[1]:
                continue
            a, b = (c - lens[2]) / lens[0] * d, (r - lens[3]) / lens[1] * d
            count_point(a, b, d, pose, frame, spheres, scene, paddings, kinds, counts, boxes)


@kernel
def count_cloud(
    points: Depth,
    pose: Array,
    limits: Array,
    frame: Array,
    spheres: Array,
    scene: SceneArrays,
    paddings: Array,
    kinds: Kinds,
    counts: Counts,
    boxes: Kinds,
) -> None:
    """Count the points of a cloud in their cells.

    Args:
        points: Points in the cloud's frame, (n, 3), m.
        pose: world_T_frame, (12,).
        limits: Least and greatest distance from the frame, (2,), m.
        frame: Corner of the cells, and edge of one, (4,), m.
        spheres: The robot's, (n, 4), m.
        scene: Shapes of objects.
        paddings: That of objects and that of the robot, (2,), m.
        kinds: Scratch, zeros, (x, y, z).
        counts: Written, (x, y, z).
        boxes: Written where there are counts: the box around the points of each cell, see ``Boxes``, (x, y, z, 6).
    """
    for i in range(len(points)):
        a, b, c = points[i, 0], points[i, 1], points[i, 2]
        square = a * a + b * b + c * c
        if not limits[0] * limits[0] <= square <= limits[1] * limits[1]:
            continue
        count_point(a, b, c, pose, frame, spheres, scene, paddings, kinds, counts, boxes)


@kernel
def see_through(
    depth: Depth,
    lens: Array,
    pose: Array,
    limits: Array,
    frame: Array,
    spare_m: float,
    stamp_s: float,
    free_s: Stamps,
) -> None:
    """Write the time of a look to all cells that it shows to be free: the camera sees what is behind their centre.

    Args:
        depth: Depths, (rows, columns), m; infinite where there is nothing near.
        lens: Focal lengths and principal point, (4,), pixels.
        pose: world_T_camera, (12,).
        limits: Least and greatest depth, (2,), m.
        frame: Corner of the cells, and edge of one, (4,), m.
        spare_m: What is seen must be so much farther than the cell's centre, m.
        stamp_s: Time of the look, s.
        free_s: Written, (x, y, z), s.
    """
    nx, ny, nz = free_s.shape
    rows, columns = depth.shape
    edge = frame[3]
    for i in range(nx):
        dx = frame[0] + (i + 0.5) * edge - pose[9]
        for j in range(ny):
            dy = frame[1] + (j + 0.5) * edge - pose[10]
            for k in range(nz):
                dz = frame[2] + (k + 0.5) * edge - pose[11]
                c = pose[2] * dx + pose[5] * dy + pose[8] * dz
                if not limits[0] <= c <= limits[1]:
                    continue
                u = (pose[0] * dx + pose[3] * dy + pose[6] * dz) / c * lens[0] + lens[2]
                v = (pose[1] * dx + pose[4] * dy + pose[7] * dz) / c * lens[1] + lens[3]
                if not (-0.5 <= u < columns - 0.5 and -0.5 <= v < rows - 0.5):
                    continue
                if depth[int(v + 0.5), int(u + 0.5)] > c + spare_m:
                    free_s[i, j, k] = stamp_s


@kernel
def inside_robot(frame: Array, spheres: Array, stamp_s: float, free_s: Stamps) -> None:
    """Write a time to all cells that are wholly in a sphere of the robot: nothing else can be there.

    Args:
        frame: Corner of the cells, and edge of one, (4,), m.
        spheres: The robot's, (n, 4), m.
        stamp_s: The time, s.
        free_s: Written, (x, y, z), s.
    """
    edge, shape = frame[3], free_s.shape
    low, high = np.empty(3, np.int64), np.empty(3, np.int64)
    for s in range(len(spheres)):
        inner = spheres[s, 3] - 0.5 * np.sqrt(3.0) * edge
        if inner <= 0.0:
            continue
        for a in range(3):
            low[a] = max(0, int(np.ceil((spheres[s, a] - inner - frame[a]) / edge - 0.5)))
            high[a] = min(shape[a] - 1, int(np.floor((spheres[s, a] + inner - frame[a]) / edge - 0.5)))
        for i in range(low[0], high[0] + 1):
            dx = frame[0] + (i + 0.5) * edge - spheres[s, 0]
            for j in range(low[1], high[1] + 1):
                dy = frame[1] + (j + 0.5) * edge - spheres[s, 1]
                for k in range(low[2], high[2] + 1):
                    dz = frame[2] + (k + 0.5) * edge - spheres[s, 2]
                    if dx * dx + dy * dy + dz * dz <= inner * inner:
                        free_s[i, j, k] = stamp_s


@kernel
def inside_objects(low: Array, high: Array, scene: SceneArrays, padding_m: float, inside: Kinds) -> None:
    """Write 1 for each box whose corners all are so near to one shape of an object that they count as the object's.

    Args:
        low: Least corners of the boxes in ``world``, (n, 3), m.
        high: Their greatest corners, (n, 3), m.
        scene: Shapes of objects.
        padding_m: The distance, m.
        inside: Written where it is so, (n,).
    """
    for i in range(len(low)):
        mx, my, mz = (
            0.5 * (low[i, 0] + high[i, 0]),
            0.5 * (low[i, 1] + high[i, 1]),
            0.5 * (low[i, 2] + high[i, 2]),
        )
        for s in range(len(scene.kind)):
            pose, far = scene.pose[s], scene.bound[s] + padding_m
            dx, dy, dz = mx - pose[9], my - pose[10], mz - pose[11]
            if dx * dx + dy * dy + dz * dz > far * far:
                continue
            count = 0
            for corner in range(8):
                x = high[i, 0] if corner & 1 else low[i, 0]
                y = high[i, 1] if corner & 2 else low[i, 1]
                z = high[i, 2] if corner & 4 else low[i, 2]
                if to_shape(scene, s, x, y, z) >= padding_m:
                    break
                count += 1
            if count == 8:
                inside[i] = 1
                break


@kernel
def fill_unseen(
    frame: Array, spheres: Array, scene: SceneArrays, paddings: Array, free_s: Stamps, occupied: Kinds
) -> None:
    """Occupy all cells that no look showed to be free, but those that a known body may reach into.

    Args:
        frame: Corner of the cells, and edge of one, (4,), m.
        spheres: The robot's, (n, 4), m.
        scene: Shapes of objects.
        paddings: That of objects and that of the robot, (2,), m.
        free_s: Time at which each was seen to be free; minus infinity for never, (x, y, z), s.
        occupied: Written: 1 where occupied, (x, y, z).
    """
    nx, ny, nz = free_s.shape
    edge, half = frame[3], 0.5 * np.sqrt(3.0) * frame[3]
    for i in range(nx):
        for j in range(ny):
            for k in range(nz):
                if occupied[i, j, k] or free_s[i, j, k] > -np.inf:
                    continue
                x, y, z = (
                    frame[0] + (i + 0.5) * edge,
                    frame[1] + (j + 0.5) * edge,
                    frame[2] + (k + 0.5) * edge,
                )
                if room(x, y, z, spheres, scene, paddings) > half:
                    occupied[i, j, k] = 1
