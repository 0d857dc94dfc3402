"""Installs handiwork, by colcon or by pip. Its wheel requires all other wheels and their dependencies."""

from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = "handiwork"
VERSION = "0.1.0"
PACKAGES = [
    "conditionals_node",
    "decider_node",
    "handiwork_bringup",
    "handiwork_check",
    "handiwork_cli",
    "handiwork_core",
    "handiwork_data",
    "handiwork_planning",
    "handiwork_policy",
    "handiwork_ros",
    "handiwork_safety",
    "handiwork_viz",
    "isaac_bridge",
    "moveit_facade",
    "perception_bridge",
    "planner_node",
    "robot_description",
    "sim_bridge",
    "skill_server",
    "suction_driver",
]
INTERFACES = ["handiwork-msgs", "control-msgs", "simulation-interfaces", "tf2-msgs", "vision-msgs"]
REQUIREMENTS = Path(__file__).resolve().parents[2] / "requirements"
EXTRAS = ("data", "ray")
"""Lists of requirements that are optional: ``pip install handiwork[data]``."""


def listed(name: str) -> list[str]:
    """Return the lines of a list of requirements; none in a colcon workspace, which takes them from package.xml."""
    file = REQUIREMENTS / f"{name}.txt"
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    return [line for line in lines if line and not line.startswith("#")]


def requirements() -> list[str]:
    """List the requirements of the wheel."""
    # Exactly this version: an index may have other packages of these names.
    return [*(f"{name}=={VERSION}" for name in (*PACKAGES, *INTERFACES)), *listed("run")]


setup(
    name=PACKAGE,
    version=VERSION,
    description="The names that programs, skills, conditions and engines of your own import.",
    packages=find_packages(include=[PACKAGE, f"{PACKAGE}.*"]),
    package_data={PACKAGE: ["py.typed", "*.pyi"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ],
    install_requires=["setuptools", *requirements()],
    extras_require={name: listed(name) for name in EXTRAS},
    zip_safe=False,
    maintainer="Handiwork maintainers",
    maintainer_email="maintainers@handiwork.example",
    license="Apache-2.0",
)
