"""Installs decider_node, by colcon or by pip."""

from setuptools import find_packages, setup

PACKAGE = "decider_node"

setup(
    name=PACKAGE,
    version="0.1.0",
    description="Decides from tick to tick what the robot does: decider networks and reactive motion.",
    packages=find_packages(include=[PACKAGE, f"{PACKAGE}.*"]),
    package_data={PACKAGE: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    zip_safe=False,
    maintainer="Handiwork maintainers",
    maintainer_email="maintainers@handiwork.example",
    license="Apache-2.0",
    entry_points={
        "console_scripts": [
            "decider_node = decider_node.node:main",
            "bin_feeder = decider_node.ros.bin_feeder:main",
            "sorting_node = decider_node.ros.sorting_node:main",
        ]
    },
)
