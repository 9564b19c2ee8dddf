"""The plain file that tells the hook of the settings says what every command goes by."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from recall.actions import hookconf
from recall.actions.walk import homes
from recall.hook import Setup, read_conf
from recall.settings import Settings, load
from tests.conftest import ROOT, environment
from tests.hook.conftest import SESSION, Place


def conf_of(settings: Settings) -> dict[str, list[str]]:
    found = read_conf(hookconf.path(settings))
    assert found is not None
    return found


@pytest.fixture
def settings(home: Path) -> Settings:
    return load({"HOME": str(home), "RECALL_ARCHIVE": "/mnt/архив", "RECALL_CODEX_HOMES": "/srv/codex:/srv/b"})


@pytest.mark.parametrize("env", [{}, {"HOME": "/nowhere"}])
def test_the_hook_reads_what_was_written(settings: Settings, env: dict[str, str]) -> None:
    """Folders, homes with the prefixes of their copies, and switches; HOME is not needed."""
    hookconf.write(settings, handoff=True)
    setup = Setup(env, conf_of(settings))
    assert (setup.archive, setup.data, setup.state) == (settings.archive, settings.data, settings.state)
    assert sorted(setup.homes) == sorted((home.client, home.path, home.prefix) for home in homes(settings))
    assert (setup.handoff, setup.after_clear, setup.digest, setup.autoname) == (True, False, False, False)
    assert setup.days == 30


def test_without_it_the_hook_looks_where_commands_look(home: Path) -> None:
    """The defaults are the same, and so are the variables."""
    for env in (
        {"HOME": str(home)},
        {"HOME": str(home), "CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "~/x/../y", "RECALL_STATE": "s"},
        {"HOME": str(home), "RECALL_CLAUDE_HOMES": "/a:~/b", "RECALL_ARCHIVE": "~/kept", "RECALL_AUTONAME": "yes"},
    ):
        setup, wanted = Setup(env, {}), load(env)
        assert (setup.archive, setup.data, setup.state) == (wanted.archive, wanted.data, wanted.state)
        assert setup.homes == [(one.client, one.path, one.prefix) for one in homes(wanted)]
        assert (setup.autoname, setup.digest, setup.days) == (wanted.autoname, wanted.startup_digest, 30)


def test_a_sweep_follows_the_config_file(settings: Settings) -> None:
    """What it says goes into the file; what only the installer's environment knew stays; without a file there is none."""
    hookconf.refresh(settings)
    assert not Path(hookconf.path(settings)).exists()
    hookconf.write(settings, handoff=False)
    Path(settings.config).parent.mkdir(parents=True)
    Path(settings.config).write_text('data = "~/cards"\nhandoff_days = 7\nautoname = true\nclaude_homes = ["/more"]\n')
    hookconf.refresh(load({"HOME": settings.home}))
    setup = Setup({}, conf_of(settings))
    assert (setup.archive, setup.data) == ("/mnt/архив", f"{settings.home}/cards")
    assert (setup.days, setup.autoname, setup.handoff) == (7, True, False)
    assert {home for _, home, _ in setup.homes} >= {"/more", "/srv/codex", "/srv/b", f"{settings.home}/.claude"}
    before = Path(hookconf.path(settings)).stat()
    hookconf.refresh(load({"HOME": settings.home}))
    assert Path(hookconf.path(settings)).stat() == before
    Path(settings.config).write_text("broken = \n")
    hookconf.refresh(settings)
    assert Path(hookconf.path(settings)).stat() == before


def test_a_detached_process_has_a_limit(place: Place) -> None:
    """One that hangs ends in good order when its time is up, and says so."""
    import os

    path = place.claude.with_name(f"{SESSION[:-2]}cc.jsonl")
    os.mkfifo(path)
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from recall.cli.detached import main; main(sys.argv[1:])",
            "1",
            "handoff",
            path,
        ],
        env=environment(place.home, PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "recall: handoff: took too long\n")
