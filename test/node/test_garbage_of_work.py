"""Garbage of a node's work does not grow with the number of objects that the node has loaded."""

from __future__ import annotations

import subprocess
import sys

NODE = """
import gc, sys
from collections import deque
from lifecycle_msgs.msg import Transition
from handiwork_ros.node.main import run
from handiwork_ros.node.managed_node import ManagedNode

class Goal:
    alive = most = 0

    def __init__(self):
        self.job = self
        Goal.alive += 1
        Goal.most = max(Goal.most, Goal.alive)

    def __del__(self):
        Goal.alive -= 1

class Worker(ManagedNode):
    def __init__(self):
        super().__init__("worker")

    def on_load(self, report):
        self.loaded = [[] for _ in range(200_000)]

    def on_start(self):
        self.timer = self.create_timer(0.1, self.begin)

    def begin(self):
        self.timer.cancel()
        self.executor.create_task(self.work)

    async def work(self):
        newest = deque(maxlen=700)
        for _ in range(600_000):
            newest.append(Goal())
        exempt = gc.get_freeze_count()
        await self.change_state(Transition.TRANSITION_DEACTIVATE)
        print(Goal.most, exempt, gc.get_freeze_count(), flush=True)
        self.exit_code = 3

sys.exit(run(Worker, sys.argv))
"""
"""Goals that are parts of themselves; the newest 700 are in use, so some of them become old before they end."""


def test_garbage_of_work_is_found_soon_however_much_is_loaded() -> None:
    ended = subprocess.run([sys.executable, "-c", NODE], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 3, ended.stderr
    most, exempt, exempt_inactive = map(int, ended.stdout.split())
    assert most < 25_000
    assert exempt >= 200_000
    assert exempt_inactive == 0
