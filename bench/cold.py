"""The first index of a corpus: processor time against parsing the same lines as JSON, memory, size on disk.

The archive is filled first, in a process of its own, so that copying is not counted. Run as a program
(`cold.py keep|loads|conversation|everything`), it does one of the jobs and prints what that took, as JSON.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from statistics import median

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench import process
from bench.figure import Figure

MEMORY = 150.0


def figures(env: Mapping[str, str], runs: int) -> Iterator[Figure]:
    """Measure; leaves archive and index of the corpus under the folders that `env` names."""
    kept = _job("keep", env)
    size = kept["count"] / 1e6
    took: dict[str, list[dict[str, float]]] = {"loads": [], "conversation": [], "everything": []}
    for _ in range(runs):
        for name, results in took.items():
            results.append(_job(name, env))
    cpu = {name: median(one["cpu"] for one in results) for name, results in took.items()}
    rss = {name: max(one["rss"] for one in results) for name, results in took.items()}
    base = f"json alone {cpu['loads']:.2f} s for {size:.0f} MB"
    yield Figure("cold index, conversation: CPU", cpu["conversation"] / cpu["loads"], 3.5, note=base)
    yield Figure("cold index, with tool output: CPU", cpu["everything"] / cpu["loads"], 10, note=base)
    yield Figure("copying into the archive: CPU", kept["cpu"] / cpu["loads"], note="not in the two above")
    yield Figure("cold index, conversation: peak memory", rss["conversation"], MEMORY, "MB")
    yield Figure("cold index, with tool output: peak memory", rss["everything"], MEMORY, "MB")
    for name, bound in (("index", 4), ("output", 8)):
        path = os.path.join(env["RECALL_STATE"], f"{name}.db")
        yield Figure(f"{name}.db: part of the corpus", os.path.getsize(path) / 1e4 / size, bound, "%")


def _job(name: str, env: Mapping[str, str]) -> dict[str, float]:
    took = process.run([sys.executable, os.path.abspath(__file__), name], env)
    if took.status:
        sys.exit(f"bench: {name} ended with status {took.status}")
    result: dict[str, float] = json.loads(took.out)
    if not result["count"]:
        sys.exit(f"bench: {name} did nothing")
    return result


def _keep() -> int:
    """Copy everything into the archive, as a sweep would; the bytes of the transcripts."""
    from recall.actions.walk import homes, walk
    from recall.archive import append
    from recall.archive.store import refresh
    from recall.archive.sums import Sums
    from recall.files import make_private_dir
    from recall.settings import load

    settings = load()
    make_private_dir(settings.state)
    append.ready(settings.archive, settings.state)
    total = 0
    with Sums(settings.archive) as sums:
        for home in homes(settings):
            for found in walk(home, lambda path, problem: None):
                refresh(settings.archive, found.place.archive, found.path, sums)
                total += found.size if found.place.kind in ("main", "sub") else 0
    return total


def _loads() -> int:
    """Parse every line of every transcript as JSON, and do nothing with it."""
    import orjson

    from recall.actions.walk import homes, walk
    from recall.settings import load

    total = 0
    for home in homes(load()):
        for found in walk(home, lambda path, problem: None):
            if found.place.kind not in ("main", "sub"):
                continue
            with open(found.path, "rb") as file:
                for line in file:
                    total += len(line)
                    try:
                        orjson.loads(line)
                    except orjson.JSONDecodeError:
                        continue
    return total


def _index(output: bool) -> int:
    from recall.actions.reindex import rebuild
    from recall.settings import load

    return rebuild(load(), progress=lambda done, total, what: None, output=output)


def _peak() -> float:
    """Most memory that this process has held, in MB. Where there is no /proc, a child's figure may be its parent's."""
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) / 1024
    except OSError:
        pass
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def main() -> None:
    jobs: dict[str, Callable[[], int]] = {
        "keep": _keep,
        "loads": _loads,
        "conversation": lambda: _index(output=False),
        "everything": lambda: _index(output=True),
    }
    import orjson  # noqa: F401  (what the baseline needs is loaded, and not counted for it)

    import recall.actions.walk
    import recall.settings  # noqa: F401

    start = time.process_time()
    count = jobs[sys.argv[1]]()
    print(json.dumps({"cpu": time.process_time() - start, "rss": _peak(), "count": count}))


if __name__ == "__main__":
    main()
