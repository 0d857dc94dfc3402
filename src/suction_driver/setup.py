"""Installs suction_driver, by colcon or by pip."""

from setuptools import find_packages, setup

PACKAGE = "suction_driver"

setup(
    name=PACKAGE,
    version="0.1.0",
    description="A driver of a real suction cup with a valve and a vacuum switch, for the suction interface.",
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
    entry_points={"console_scripts": ["suction_driver = suction_driver.node:main"]},
)
