"""Installs robot_description, by colcon or by pip."""

from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = "robot_description"


def data_tree(folder: str) -> list[tuple[str, list[str]]]:
    """List the files below a folder, each under share/<package>, for setuptools.

    Args:
        folder: Path relative to the package.

    Returns:
        Entries of ``data_files``: a folder below share, and its files.
    """
    folders = [path for path in (Path(folder), *sorted(Path(folder).rglob("*"))) if path.is_dir()]
    listed = [(where, [str(path) for path in sorted(where.iterdir()) if path.is_file()]) for where in folders]
    return [(f"share/{PACKAGE}/{where}", files) for where, files in listed if files]


setup(
    name=PACKAGE,
    version="0.1.0",
    description="Robots of Handiwork and the node that publishes their model and frames.",
    packages=find_packages(include=[PACKAGE, f"{PACKAGE}.*"]),
    package_data={PACKAGE: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
        *data_tree("robots"),
    ],
    install_requires=["setuptools"],
    zip_safe=False,
    maintainer="Handiwork maintainers",
    maintainer_email="maintainers@handiwork.example",
    license="Apache-2.0",
    entry_points={
        "console_scripts": [
            "base_joints = robot_description.base_joints.node:main",
            "robot_description = robot_description.node:main",
            "spawn_controllers = robot_description.spawn_controllers:main",
        ]
    },
)
