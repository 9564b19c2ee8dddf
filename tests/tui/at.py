"""`python at.py MOMENT`: what `recall` alone does, at a fixed time, so that ages on its screen are always the same."""

from __future__ import annotations

import datetime
import sys

from recall.cli.app import App
from recall.cli.picker import run
from recall.settings import load

if __name__ == "__main__":
    sys.exit(run(App(load(), datetime.datetime.fromisoformat(sys.argv[1]))))
