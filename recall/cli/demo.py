"""`recall demo`: the bundled samples in a throw-away home, and the commands that a person would try there."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile

import click

import recall
from recall.errors import Unavailable

SAMPLES = os.path.join(os.path.dirname(recall.__file__), "share", "samples", "home")

SEARCHES = (("export", "deals"),)
"""What is searched for: words as somebody would remember them, each list finds a sample."""

PASSED_ON = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "COLORTERM", "NO_COLOR", "COLUMNS", "TMPDIR")
"""What the child processes see of our environment: nothing that leads to the user's own files."""


@click.command("demo")
@click.option("--keep", is_flag=True, help="Leave the folder and say where it is.")
def command(keep: bool) -> int:
    """Try recall on bundled samples in a throw-away folder.

    Your own transcripts, copies and index are neither read nor written.

    \b
    Example:
      recall demo
    """
    if not os.path.isdir(SAMPLES):
        raise Unavailable("the samples are not installed", "install recall again: ./install.sh")
    folder = tempfile.mkdtemp(prefix="recall-demo-")
    try:
        home = os.path.join(folder, "home")
        shutil.copytree(SAMPLES, home)
        status = _tour(home)
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    if keep:
        click.echo(f"\nKept. To look around: HOME={shlex.quote(home)} recall find")
    else:
        click.echo("\nThe folder is gone again. With your own sessions:")
        click.echo("  recall sweep          take them in")
        click.echo("  recall find WORDS…    what you remember of one")
    return status


def _tour(home: str) -> int:
    """Run and show the commands; the status of the first that failed, else 0."""
    env = _environment(home)
    click.echo("A home with sample sessions, none of them yours.")
    steps = [("sweep", "--no-llm"), ("find", "-n", "5"), *(("find", *words) for words in SEARCHES)]
    for step in steps:
        if status := _show(step, env):
            return status
    found = subprocess.run(
        _argv(("find", *SEARCHES[0], "-n", "1")), env=env, cwd=home, stdout=subprocess.PIPE, text=True
    )
    rows = found.stdout.splitlines()
    if not rows:
        return found.returncode
    session = rows[-1].split()[0]
    return _show(("show", session), env) or _show(("cmd", session), env)


def _show(args: tuple[str, ...], env: dict[str, str]) -> int:
    """Print a command as typed at a prompt, then let it print."""
    click.echo(f"\n{click.style('$ ' + shlex.join(('recall', *args)), bold=True)}")
    sys.stdout.flush()
    return subprocess.run(_argv(args), env=env, cwd=env["HOME"], stdin=subprocess.DEVNULL).returncode


def _argv(args: tuple[str, ...]) -> list[str]:
    return [sys.executable, "-m", "recall", *args]


def _environment(home: str) -> dict[str, str]:
    env = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    package = os.path.dirname(os.path.dirname(os.path.abspath(recall.__file__)))
    return {**env, "HOME": home, "PYTHONPATH": package}
