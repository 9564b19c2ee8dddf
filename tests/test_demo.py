"""`recall demo` shows the program on samples and leaves no trace."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from recall.cli.demo import SAMPLES, unpack
from tests.conftest import Run


def _files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_the_demo_shows_commands_and_leaves_nothing(run_recall: Run, home: Path, tmp_path: Path) -> None:
    """Each command is shown with its output; neither HOME nor the temporary folder holds anything afterwards."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = run_recall("demo", TMPDIR=str(scratch))
    assert (done.returncode, done.stderr) == (0, "")
    commands = [line.split()[2] for line in done.stdout.splitlines() if line.startswith("$ recall ")]
    assert commands[0] == "sweep"
    assert commands[-2:] == ["show", "cmd"]
    assert "--resume" in done.stdout or "codex resume" in done.stdout
    assert _files(home) == set()
    assert _files(scratch) == set()


def test_the_demo_ignores_our_settings(run_recall: Run, home: Path, tmp_path: Path) -> None:
    """With folders set for the real recall, those folders stay as they were."""
    own = tmp_path / "own"
    done = run_recall("demo", RECALL_ARCHIVE=str(own), RECALL_STATE=str(own), RECALL_DATA=str(own), CODEX_HOME=str(own))
    assert done.returncode == 0
    assert not own.exists()


def test_the_demo_can_be_kept(run_recall: Run, tmp_path: Path) -> None:
    """`--keep` leaves the folder and says where it is."""
    done = run_recall("demo", "--keep", TMPDIR=str(tmp_path))
    assert done.returncode == 0
    (folder,) = tmp_path.glob("recall-demo-*")
    assert f"HOME={folder / 'home'}" in done.stdout


def test_the_samples_are_clean(home: Path, run_recall: Run) -> None:
    """Every sample is indexed whole, nothing in them is skipped or unknown, and their folders are there."""
    unpack(str(home))
    run_recall("sweep", "--no-llm", check=True)
    found = json.loads(run_recall("find", "--all", "--json", check=True).stdout)["results"]
    assert Counter(row["client"] for row in found) == {"claude": 5, "codex": 3}
    assert all(Path(row["cwd"]).is_dir() for row in found)
    assert sum(path.stat().st_size for path in Path(SAMPLES).rglob("*") if path.is_file()) < 120_000
