"""Installs handiwork_policy, by colcon or by pip."""

from setuptools import find_packages, setup

PACKAGE = "handiwork_policy"

setup(
    name=PACKAGE,
    version="0.1.0",
    description="Learned policies behind a guard, judged by conditions.",
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
)
