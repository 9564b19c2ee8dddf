"""`recall demo`: the bundled samples in a throw-away home, and the commands that a person would try there."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import click

import recall
from recall.cli import program
from recall.errors import Unavailable

SAMPLES = os.path.join(os.path.dirname(os.path.abspath(recall.__file__)), "share", "samples", "home")

FIRST = ("umlauts", "excel")

SEARCHES = (
    (FIRST, "Type what you remember. `umlauts` finds the German `Umlaute` as well."),
    (("сделка", "менеджер"), "Any form of a word will do: the session says `сделок по менеджерам`."),
    (("orders", "project:shop"), "One list for both clients; filters stand among the words."),
)
"""What is searched for: words as somebody would remember them, each list finds a sample; and what is to be seen."""

WRITTEN_IN = "/home/dev"
"""The home that the samples speak of. It becomes the throw-away one, so that their folders are there."""

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
        unpack(home)
        status = _tour(home)
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    name = program()
    click.echo()
    if keep:
        _remark(f"The folder stays until you delete it: {folder}")
        click.echo(f"  HOME={shlex.quote(home)} {name} find WORDS…    to look around in it")
        return status
    _remark("The throw-away folder is gone again. With your own sessions:")
    click.echo(f"  {name} sweep          copy and index them; the clients' files stay as they are")
    click.echo(f"  {name} find WORDS…    what you remember of one")
    return status


def unpack(home: str) -> None:
    """Write the samples below the new folder `home`, as if their sessions had run there, and make their folders."""
    inside = json.dumps(home)[1:-1].encode()
    projects = set()
    for folder, _, names in os.walk(SAMPLES):
        target = os.path.join(home, os.path.relpath(folder, SAMPLES))
        os.makedirs(target, 0o700, exist_ok=True)
        for name in names:
            with open(os.path.join(folder, name), "rb") as sample:
                text = sample.read()
            projects.update(re.findall(rf'"cwd":"{WRITTEN_IN}/([a-z-]+)"'.encode(), text))
            with open(os.path.join(target, name), "wb") as file:
                file.write(text.replace(f"{WRITTEN_IN}/".encode(), inside + b"/"))
    for project in projects:
        os.makedirs(os.path.join(home, project.decode()), 0o700, exist_ok=True)


def environment(home: str) -> dict[str, str]:
    """The variables of a process that works in `home` and knows nothing of ours."""
    env = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    package = os.path.dirname(os.path.dirname(os.path.abspath(recall.__file__)))
    return {**env, "HOME": home, "PYTHONPATH": package}


def argv(*args: str) -> list[str]:
    """This recall, with these arguments."""
    return [sys.executable, "-m", "recall", *args]


def _tour(home: str) -> int:
    """Run and show the commands; the status of the first that failed, else 0."""
    env = environment(home)
    _remark("Sample sessions of Claude Code and Codex; yours are neither read nor changed.")
    steps = [
        (("sweep", "--no-llm"), "Copy every transcript and index it; no model is asked."),
        (("find",), "Newest first: id, last use, folder, [new: no summary yet], what was asked."),
        *((("find", *words), remark) for words, remark in SEARCHES),
    ]
    for step, remark in steps:
        if status := _show(step, remark, env):
            return status
    found = subprocess.run(argv("find", *FIRST, "--ids"), env=env, cwd=home, stdout=subprocess.PIPE, text=True)
    if not found.stdout:
        return found.returncode
    session = found.stdout[:8]
    return _show(("show", session), "What was it? The beginning of its id will do.", env) or _show(
        ("cmd", session), "Go on with it: this line, in any shell, resumes the session in its folder.", env
    )


def _show(args: tuple[str, ...], remark: str, env: dict[str, str]) -> int:
    """Print a remark and a command as typed at a prompt, then let it print."""
    click.echo()
    _remark(remark)
    click.echo(click.style(f"$ {program()} {typed(args)}", bold=True))
    sys.stdout.flush()
    return subprocess.run(argv(*args), env=env, cwd=env["HOME"], stdin=subprocess.DEVNULL).returncode


def typed(args: tuple[str, ...]) -> str:
    """The arguments as a person would type them: quoted only where a shell needs it, which letters never do."""
    return " ".join(arg if re.fullmatch(r"[\w@%+=:,./-]+", arg) else shlex.quote(arg) for arg in args)


def _remark(text: str) -> None:
    click.secho(f"# {text}", fg="green")
