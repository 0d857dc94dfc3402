"""Installs sim_bridge, by colcon or by pip."""

from setuptools import find_packages, setup

PACKAGE = "sim_bridge"

setup(
    name=PACKAGE,
    version="0.1.0",
    description="MuJoCo behind the robot-and-world contract of Handiwork.",
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
            "sim_bridge = sim_bridge.node:main",
            "sim_cameras = sim_bridge.cameras.node:main",
            "sim_detector = sim_bridge.detector.node:main",
        ]
    },
)
