# `make help` lists the targets. PYTHON=python3.12 chooses another Python, ROS=kilted another ROS 2; each choice makes .venv again.

PYTHON ?= python3
ROS ?= jazzy
N ?= 50
SEED ?= 0
MINUTES ?= 5
PORT ?= 8080
PYTEST_ARGS ?=

# Another ROS, or another environment, must not leak into .venv.
unexport AMENT_PREFIX_PATH CMAKE_PREFIX_PATH COLCON_PREFIX_PATH LD_LIBRARY_PATH PYTHONHOME PYTHONPATH ROS_DISTRO
unexport _ROS_WHEELS_BOOTSTRAP_COMPLETE
# Without its bytecode Python compiles every module at each start of a node, which doubles the time of a start.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup setup-dev setup-moveit setup-nav2 demo view demo-stack test test-fast soak soak-all chaos chaos-network lint docs wheels check-wheels bench clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## make .venv with ROS 2, the interfaces and the packages
	@$(PYTHON) scripts/setup.py --ros $(ROS)

setup-dev: ## the same, and what tests and checks need
	@$(PYTHON) scripts/setup.py --ros $(ROS) --dev

setup-moveit: ## the set-up, and the interfaces of MoveIt for clients of MoveIt; takes one to two minutes more
	@$(PYTHON) scripts/setup.py --ros $(ROS) --moveit

setup-nav2: ## the set-up, and the interface of nav2 for robots whose base it drives; takes some seconds more
	@$(PYTHON) scripts/setup.py --ros $(ROS) --nav2

demo: ## pick an object and place it into the container, in simulation
	@$(PYTHON) scripts/setup.py --ros $(ROS) --for-demo
	@.venv/bin/handiwork demo; status=$$?; $(PYTHON) scripts/setup.py --in-background; exit $$status

view: ## simulate, and serve a page in the browser that shows everything and sends goals; PORT=8080
	@$(PYTHON) scripts/setup.py --ros $(ROS) --for-demo --page
	@.venv/bin/handiwork demo --view --port $(PORT)

demo-stack: setup ## stack bins off a belt with a UR10, in simulation, with the decider network drawn
	@.venv/bin/python -m benchmarks.stacking --view

test: setup-dev ## run all tests; PYTEST_ARGS goes to pytest
	@.venv/bin/python -m pytest --numprocesses=auto --no-loadscope-reorder $(PYTEST_ARGS)

test-fast: setup-dev ## run the tests that start no node and no process and take no seconds: two minutes on two cores
	@.venv/bin/python -m pytest --numprocesses=logical -m "not slow and not processes" test/unit test/contracts $(PYTEST_ARGS)

soak: setup ## run N randomised episodes from SEED and print success rate and times
	@.venv/bin/handiwork soak --episodes $(N) --seed $(SEED)

soak-all: setup ## the soak of every arm of every robot, in one table; N episodes each
	@.venv/bin/handiwork soak-all --episodes $(N) --seed $(SEED)

chaos: setup ## goals while nodes are killed, frozen, reset and sent forged messages, for MINUTES from SEED
	@.venv/bin/handiwork chaos --minutes $(MINUTES) --seed $(SEED)

chaos-network: setup ## goals from another network namespace while packets are lost and delayed, for MINUTES from SEED
	@.venv/bin/handiwork chaos --network --minutes $(MINUTES) --seed $(SEED)

lint: setup-dev ## check style, types, spelling and who imports whom
	@.venv/bin/ruff check
	@.venv/bin/ruff format --check
	@.venv/bin/mypy
	@.venv/bin/lint-imports
	@.venv/bin/codespell
	@.venv/bin/python scripts/check_prose.py
	@.venv/bin/python scripts/check_dependencies.py

docs: build/docs-venv/stamp ## build the documentation site into site/; any warning fails
	@NO_MKDOCS_2_WARNING=1 build/docs-venv/bin/mkdocs build --quiet --strict

build/docs-venv/stamp: requirements/docs.txt
	@$(PYTHON) -m venv --clear build/docs-venv
	@build/docs-venv/bin/python -m pip --disable-pip-version-check install --quiet --requirement $<
	@touch $@

wheels: setup ## build the wheels that a release publishes into dist/
	@.venv/bin/python scripts/make_wheels.py

check-wheels: wheels ## install these wheels alone into an empty environment, and run the demo from there
	@$(PYTHON) scripts/check_wheels.py

bench: setup-dev ## measure the planner
	@.venv/bin/python -m benchmarks

clean: ## remove .venv and all that was built
	rm -rf .venv build dist site install log out output
