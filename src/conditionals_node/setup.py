"""Installs conditionals_node, by colcon or by pip."""

from setuptools import find_packages, setup

PACKAGE = "conditionals_node"

setup(
    name=PACKAGE,
    version="0.1.0",
    description="Publishes whether task conditions hold, with evidence.",
    packages=find_packages(include=[PACKAGE, f"{PACKAGE}.*"]),
    package_data={PACKAGE: ["py.typed", "scoring/data/*"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    zip_safe=False,
    maintainer="Handiwork maintainers",
    maintainer_email="maintainers@handiwork.example",
    license="Apache-2.0",
    entry_points={"console_scripts": ["conditionals_node = conditionals_node.node:main"]},
)
