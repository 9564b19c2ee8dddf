"""`python at.py MOMENT`: what `recall` alone does, at a fixed time, so that ages on its screen are always the same, and with
time enough to take in what is new on a busy machine."""

from __future__ import annotations

import datetime
import sys

from recall.actions import refresh
from recall.cli.app import App
from recall.cli.picker import run
from recall.settings import load

if __name__ == "__main__":
    refresh.SECONDS = 60.0
    sys.exit(run(App(load(), datetime.datetime.fromisoformat(sys.argv[1]))))
