"""Installs handiwork_bringup, by colcon or by pip."""

from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = "handiwork_bringup"


def data_tree(folder: str) -> list[tuple[str, list[str]]]:
    """List the files below a folder, each under share/<package>, for setuptools.

    Args:
        folder: The folder.

    Returns:
        Installed folder and its files, as ``data_files`` has them.
    """
    folders = [path for path in (Path(folder), *sorted(Path(folder).rglob("*"))) if path.is_dir()]
    listed = [(where, [str(path) for path in sorted(where.iterdir()) if path.is_file()]) for where in folders]
    return [(f"share/{PACKAGE}/{where}", files) for where, files in listed if files]


setup(
    name=PACKAGE,
    version="0.1.0",
    description="Launch files and configuration.",
    packages=find_packages(include=[PACKAGE, f"{PACKAGE}.*"]),
    package_data={PACKAGE: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
        *data_tree("launch"),
        *data_tree("config"),
    ],
    install_requires=["setuptools"],
    zip_safe=False,
    maintainer="Handiwork maintainers",
    maintainer_email="maintainers@handiwork.example",
    license="Apache-2.0",
)
