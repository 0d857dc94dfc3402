"""Greatest sizes and counts of input from other processes and files. Listed in docs/reference/limits.md.

Each limit was chosen such that a node handles the greatest allowed input within one second on one core.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class YamlLimits:
    """Bounds of one YAML document.

    Attributes:
        characters: Its characters.
        values: Its values; keys count as values.
        depth: Nesting of its values.
    """

    characters: int
    values: int
    depth: int = 40


GOAL_YAML = YamlLimits(characters=100_000, values=10_000)
"""Parameters of one goal, arguments of one condition, the text of one spawned object."""

TASK_YAML = YamlLimits(characters=300_000, values=15_000)
"""A task that is sent as text, with the robot files that it names."""

FILE_YAML = YamlLimits(characters=1_000_000, values=50_000)
"""A scene, robot or condition file."""

INTEGER_KEY_CHARACTERS = 18
"""Longest whole number that is a key in YAML."""

NUMBER_CHARACTERS = 100
"""Longest text of one number in YAML."""

FAULTS_LISTED = 50
"""Faults that one error message lists; the others are counted."""

ENTRIES_LISTED = 10
"""Faults of plain entries of one list that an error message lists, so that those of other fields have room."""

MESH_BYTES = 32_000_000
"""Greatest mesh file, .obj, .stl or OpenUSD."""

MESH_TRIANGLES = 250_000
"""Triangles of one mesh; polygons are counted in triangles."""

GRASP_FILE_BYTES = 40_000_000
"""Greatest file of grasp annotations: 200,000 rows of 17 numbers with 8 bytes each, and room for the header."""

JSON_BYTES = 1_000_000
"""Greatest JSON file."""

URDF_BYTES = 20_000_000
"""Greatest URDF or xacro file."""

FILTER_CHARACTERS = 200
"""Longest regular expression of a filter."""

NAME_CHARACTERS = 255
"""Longest name of an object, a frame, a condition or a task entry."""

OBJECTS = 2_000
"""Objects of the world, their states, and objects of a scene file."""

SHAPES_PER_OBJECT = 256
"""Shapes of one object."""

SHAPES = 5_000
"""Shapes of all objects of one message."""

GEOMETRY_BYTES = 32_000_000
"""Greatest message of geometry: vertices and triangles of meshes are most of it."""

ATTACHED_BYTES = 2_000_000
"""Greatest message of the objects that are attached at the planner: 1,000 bytes for each of ``OBJECTS``."""

CONTACTS = 10_000
"""Contacts of one message."""

JOINTS = 500
"""Joints of one message."""

FRAMES = 5_000
"""Static, and as many moving, frames that a node keeps; transforms of one message."""

FRAME_LIFETIME_S = 60.0
"""A moving frame is forgotten when no message has had it for so long, while messages with others come."""

GOAL_POSES = 20_000
"""Poses of one planning request."""

BATCH_PROBLEMS = 1_000
"""Problems of one batch of plans; ``GOAL_POSES`` holds for the poses of all together."""

SCENES = 1_000
"""Scenes of one planning request; entries of each list in a scene."""

TRAJECTORY_POINTS = 50_000
"""Points of one trajectory."""

CONDITIONS = 500
"""Conditions that are watched at once."""

CONDITION_NODES = 1_000
"""Predicates, names and operators of one condition, those of the conditions that it names included."""

CONDITION_DEPTH = 60
"""Greatest depth to which conditions may name each other and be nested."""

PREDICATES = 5_000
"""Predicates of all conditions that are watched at once."""

TASK_ENTRIES = 500
"""Entries, or steps, of one task."""

GOAL_LIST = 1_000
"""Entries of a list in the goal of a skill."""

GOAL_TEXT = 4_096
"""Characters of a text in the goal of a skill."""

SPAWNED_AT_ONCE = 100
"""Objects of one request to spawn."""

LARGEST_POSITION_M = 1e6
"""Greatest coordinate of an object that is spawned or moved."""

LOOP_TURNS = 1_000
"""Turns of one loop of a task."""

LOOP_OBJECTS = 100
"""Objects of one loop of a task."""

TASK_READS = 5_000
"""Skills, and other nodes, that are checked when one task is read, those of loops once for each object."""

TASK_RUNS = 2_000
"""Skills, and other nodes, that one task may run, with all turns of its loops."""

CAMERAS = 16
"""Cameras of one robot or scene file."""

CAMERA_PIXELS = 4_000_000
"""Pixels of one image of a simulated camera."""
