"""What a turn of the real client takes with recall's hooks and without: `python -m tests.realclient.turns [TURNS]`.

Two homes side by side, a turn in the one, a turn in the other, so that both see the same machine. A turn goes from the
line's end to the moment when the client says that it is idle.
"""

from __future__ import annotations

import statistics
import sys
import time

from tests.realclient.conftest import clients_folder
from tests.realclient.lab import Lab, Tui, wait_for


def main(turns: int) -> None:
    """Print the medians and the spread of both, in milliseconds."""
    labs = {"without": Lab(clients_folder()), "with hooks": Lab(clients_folder())}
    try:
        labs["with hooks"].recall("install", "--with-handoff", "--no-timer")
        windows = {}
        for name, lab in labs.items():
            lab.answer(default={"text": "The list is in list.csv."})
            windows[name] = lab.tui("claude")
            windows[name].turn("make the first list", "The list is in")
        taken: dict[str, list[float]] = {name: [] for name in labs}
        for number in range(turns):
            for name in sorted(labs, reverse=number % 2 == 0):
                taken[name].append(_turn(windows[name], f"make list number {number}"))
        for name, values in taken.items():
            low, middle, high = statistics.quantiles(values, n=4)
            print(f"{name:12} {middle:6.0f} ms  (quartiles {low:.0f} to {high:.0f}, {turns} turns)")
        pairs = [one - other for one, other in zip(taken["with hooks"], taken["without"], strict=True)]
        print(f"{'difference':12} {statistics.median(pairs):6.0f} ms  (median of the pairs)")
    finally:
        for lab in labs.values():
            lab.close()


def _turn(tui: Tui, text: str) -> float:
    tui.type(text)
    requests = len(tui.lab.api.requests)
    began = time.monotonic()
    tui.keys("Enter")
    wait_for(lambda: len(tui.lab.api.requests) > requests, "the request", every=0.002)
    wait_for(tui.idle, "the end of the turn", every=0.002)
    return (time.monotonic() - began) * 1000


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
