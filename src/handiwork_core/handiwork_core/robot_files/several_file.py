"""``robot.yaml`` of several robots that stand in one world: their folders, their places and their prefixes."""

from __future__ import annotations

from dataclasses import dataclass

from .keys import Row, check_prefix


@dataclass(frozen=True, slots=True)
class MemberFile:
    """One of the robots as written.

    Attributes:
        like: Folder of the robot.
        xyz: Place of its root link on the mount, m.
        rpy: Roll, pitch and yaw of its root link, rad, as in a URDF.
        tf_prefix: Prefix of its links, joints, arms and grippers; None: its name and ``_``.
    """

    like: str
    xyz: Row = (0.0, 0.0, 0.0)
    rpy: Row = (0.0, 0.0, 0.0)
    tf_prefix: str | None = None

    def __post_init__(self) -> None:
        check_prefix(self.tf_prefix or "")

    def prefix(self, name: str) -> str:
        """Return the prefix of its links and joints.

        Args:
            name: Name of the robot among the others.
        """
        return f"{name}_" if self.tf_prefix is None else self.tf_prefix


@dataclass(frozen=True, slots=True)
class SeveralFile:
    """The keys of ``robot.yaml`` with ``robots``."""

    name: str
    robots: dict[str, MemberFile]
    ignored_pairs: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if len(self.robots) < 2:
            raise ValueError("robots: has fewer than two; for one robot write like and tf_prefix")
        for name in self.robots:
            check_prefix(name)

    @property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """``ignored_pairs``, each sorted by name."""
        return frozenset((min(a, b), max(a, b)) for a, b in self.ignored_pairs)
