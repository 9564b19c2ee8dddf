"""tmux: a new window in the session where we run, else in the one used last, else in a new session.

All of this was checked with tmux 3.3a. Names and folders given to `new-window` are formats: `#(...)` in them is a command
that tmux runs, so no title goes there with a `#`, and no folder at all. An argument that ends in `;` ends the command,
unless there is a backslash before it. What a client tells the server may have 16 kB.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Mapping

from recall.core.model import Pane
from recall.errors import Unavailable
from recall.terminals import programs
from recall.terminals.base import Launch, label
from recall.terminals.pasting import pasteable
from recall.terminals.run import ask, last_lines

name = "tmux"
aliases = ("tmux",)
tabs = True  # a window of tmux is what others call a tab
limit = 8000
needs = "install tmux"

_FIELDS = ("#{pane_id}", "#{pane_tty}", "#{pane_pid}", "#{pane_dead}", "#{pane_current_path}", "#{pane_title}")
_SERVER = "is its server still running? `tmux list-sessions` tells"


def inside(env: Mapping[str, str]) -> bool:
    """Do we run in it?"""
    return bool(env.get("TMUX"))


def available(env: Mapping[str, str]) -> bool:
    """Is the program there? It needs no screen, and no server: one is started."""
    return bool(programs.find("tmux", env))


def command(argv: tuple[str, ...], cwd: str, title: str, where: str, env: Mapping[str, str]) -> Launch:
    """A new window, or a new session where there is none; prints the pane's id."""
    name_of = label(title).replace("#", "").rstrip(";\\ ")
    named = ("-n", name_of) if name_of else ()
    words = tuple(map(_escaped, argv))
    bare: tuple[str, ...] = ()
    if inside(env) and not _runs(
        env
    ):  # what is left of a server that has ended: a new one there would be found by nobody
        bare = ("env", "-u", "TMUX")
        env = {name: value for name, value in env.items() if name != "TMUX"}
    attach = " ".join((*bare, "tmux attach"))
    if _runs(env):
        then = "" if inside(env) else attach
        return Launch((*bare, "tmux", "new-window", "-P", "-F", "#{pane_id}", *named, "--", *words), then=then)
    return Launch((*bare, "tmux", "new-session", "-d", "-P", "-F", "#{pane_id}", *named, "--", *words), then=attach)


def panes(env: Mapping[str, str]) -> list[Pane]:
    """The panes of all servers of this user; dead ones are left out. Unavailable when no server answers at all."""
    found: list[Pane] = []
    answers, problem = 0, None
    for socket in _sockets(env):
        try:
            told = ask(
                ("tmux", "-S", socket, "list-panes", "-a", "-F", "\t".join(_FIELDS)), env, name=name, hint=_SERVER
            )
        except Unavailable as failure:
            if "does not answer" in failure.message or "cannot be run" in failure.message:
                problem = failure
            continue  # a socket that a server left behind
        answers += 1
        found += [pane for line in told.split("\n") if (pane := _pane(line, socket))]
    if problem and not answers:
        raise problem
    return found


def read(pane: Pane, lines: int, env: Mapping[str, str]) -> str:
    """The last lines of a pane; lines that the pane wrapped are whole."""
    told = ask(_to(pane, "capture-pane", "-p", "-J", "-t", pane.id, "-S", f"-{lines}"), env, name=name, hint=_SERVER)
    return last_lines(told, lines)


def paste(pane: Pane, text: str, env: Mapping[str, str]) -> None:
    """A bracketed paste where the program asked for that, else the bare text; its line ends are LF in both cases. It reaches
    this pane only, though its window may be synchronised; where a person scrolls in the pane, that ends."""
    _put(pane, pasteable(text), ("-p",), env)


def enter(pane: Pane, env: Mapping[str, str]) -> None:
    """Press Enter. Not by `send-keys`: in a synchronised window that presses it in all panes."""
    _put(pane, "\r", (), env)


def _put(pane: Pane, text: str, flags: tuple[str, ...], env: Mapping[str, str]) -> None:
    leave = ("copy-mode", "-q", "-t", pane.id, ";") if _in_mode(pane, env) else ()
    if not text:
        return  # of nothing tmux makes no buffer
    buffer = f"recall-{secrets.token_hex(8)}"
    load = ("load-buffer", "-b", buffer, "-")
    insert = ("paste-buffer", *flags, "-r", "-d", "-b", buffer, "-t", pane.id)
    try:
        ask(_to(pane, *leave, *load, ";", *insert), env, stdin=text, name=name, hint=_SERVER)
    except Unavailable:
        with contextlib.suppress(Unavailable):
            ask(_to(pane, "delete-buffer", "-b", buffer), env, name=name)
        raise


def _in_mode(pane: Pane, env: Mapping[str, str]) -> bool:
    """Does a person scroll in it? The marks of a paste are left out then. Raises Unavailable for a pane that is not the one
    that we know: a new server gives its panes the same ids again."""
    asked = "#{pane_pid} #{pane_dead} #{pane_in_mode}"
    told = ask(_to(pane, "display-message", "-p", "-t", pane.id, asked), env, name=name, hint=_SERVER)
    pid, dead, mode = (*told.split(), "", "", "")[:3]
    if dead != "0" or (pane.pid and pid != str(pane.pid)):
        raise Unavailable(f"tmux: pane {pane.id} is gone", "`recall ps` shows what is open now")
    return mode not in ("", "0")


def _to(pane: Pane, *words: str) -> tuple[str, ...]:
    return ("tmux", *(("-S", pane.where) if pane.where else ()), *words)


def _runs(env: Mapping[str, str]) -> bool:
    try:
        ask(("tmux", "has-session"), env, name=name)
    except Unavailable:
        return False
    return True


def _sockets(env: Mapping[str, str]) -> list[str]:
    """Sockets of this user's servers, the one that we run in first."""
    own = env.get("TMUX", "").split(",")[0]
    folder = f"{env.get('TMUX_TMPDIR') or '/tmp'}/tmux-{os.getuid()}"
    try:
        entries = sorted(os.listdir(folder))
    except OSError:
        entries = []
    same = os.path.realpath(own) if own else ""
    others = (path for entry in entries if os.path.realpath(path := f"{folder}/{entry}") != same)
    return [*([own] if own else []), *filter(_is_socket, others)]


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except OSError:
        return False


def _pane(line: str, socket: str) -> Pane | None:
    fields = line.split("\t", len(_FIELDS) - 1)
    if len(fields) < len(_FIELDS) or fields[3] == "1":
        return None
    ident, tty, pid, _, cwd, title = fields
    return Pane(name, ident, tty.removeprefix("/dev/"), int(pid) if pid.isdigit() else 0, title, cwd, socket)


def _escaped(word: str) -> str:
    return word[:-1] + "\\;" if word.endswith(";") else word
