"""The command line: which commands there are, and how a failure becomes one line and an exit status.

Nothing is imported here but what every Python start has loaded already. `recall version` ends in this module; any
other command loads click and then the one module that it names.
"""

import os
import sys

COMMANDS: dict[str, tuple[str, str]] = {
    "find": ("recall.cli.find", "Find the session from a few words that you remember."),
    "grep": ("recall.cli.grep", "Find single messages and tool output by exact text."),
    "show": ("recall.cli.show", "Show what a session was about, or its conversation."),
    "cmd": ("recall.cli.cmd", "Print the shell line that resumes a session."),
    "open": ("recall.cli.open", "Open a session again in a new window."),
    "ps": ("recall.cli.ps", "List the sessions that are open now."),
    "peek": ("recall.cli.peek", "Print what an open session shows."),
    "send": ("recall.cli.send", "Type a text into one open session."),
    "wait": ("recall.cli.wait", "Wait until an open session is idle, asks, or shows a text."),
    "reopen": ("recall.cli.reopen", "Open again what a crash or a restart has ended."),
    "restore": ("recall.cli.restore", "Put a kept transcript back where the client looks for it."),
    "fork": ("recall.cli.fork", "Make a new session with the history up to one message."),
    "recap": ("recall.cli.recap", "Write the card of a session with a model."),
    "backfill": ("recall.cli.backfill", "Write cards for the sessions of many days."),
    "handoff": ("recall.cli.handoff", "Write down where a session stood, for the one that goes on."),
    "sweep": ("recall.cli.sweep", "Copy and index every transcript that changed."),
    "reindex": ("recall.cli.reindex", "Make the index again from archive and cards."),
    "remove": ("recall.cli.remove", "Remove a session from recall, or all trace of it."),
    "export": ("recall.cli.export", "Write a session as one HTML page, Markdown or JSON."),
    "files": ("recall.cli.files", "List or give back the files that a session wrote."),
    "web": ("recall.cli.web", "Search and read sessions in a browser, on this machine only."),
    "who": ("recall.cli.who", "Say which session changed a file or made a commit."),
    "next": ("recall.cli.next", "What now: sessions that wait, that are open, in progress."),
    "lost": ("recall.cli.lost", "List prompts whose transcript is gone."),
    "rename": ("recall.cli.rename", "Give a session a name that sticks."),
    "tag": ("recall.cli.tag", "Add tags to a session, or take some away."),
    "tags": ("recall.cli.tags", "List all tags with their counts."),
    "stats": ("recall.cli.stats", "Count sessions, bytes, model calls and their cost."),
    "doctor": ("recall.cli.doctor", "Check the installation, or say why a session is not found."),
    "install": ("recall.cli.install", "Add hooks, permissions, the skill and the timer."),
    "uninstall": ("recall.cli.uninstall", "Take back what install did; copies and cards stay."),
    "to-codex": ("recall.cli.to_codex", "Hand a task over to Codex, with a brief."),
    "iterm-install": ("recall.cli.iterm_install", "Set up the bridge that drives iTerm2."),
    "verify": ("recall.cli.verify", "Check archive and index for damage."),
    "hook": ("recall.cli.hook", "Do what an event of a client asks for."),
    "statusline": ("recall.cli.statusline", "Print project, address and context for the status line."),
    "demo": ("recall.cli.demo", "Try recall on bundled samples in a throw-away folder."),
    "mcp": ("recall.cli.mcp", "Serve find, show, grep and handoff to an agent."),
    "completion": ("recall.cli.completion", "Print the completion script for a shell."),
    "version": ("recall.cli.version", "Print the version."),
    "help": ("recall.cli.help", "Show help for a command."),
}
"""Name -> module and its line in the list; each module has `command`, a click command."""

ALIASES = {"search": "find", "rm": "remove", "forget": "remove"}

QUICK = ("find", "search", "sweep", "hook", "statusline", "install", "uninstall")
"""Commands whose ordinary lines are read without click: see `recall.cli.options`."""

INTERRUPTED = 130
BUG = 70
"""Not 1, which says that nothing was found."""


def main(argv: list[str] | None = None) -> None:
    """Run one command and exit; `argv` is what follows the program's name (default: of this process)."""
    args = sys.argv[1:] if argv is None else argv
    if args in (["version"], ["--version"]):
        args = []
        action = _version
    else:
        action = _command
    brief = argv is None and args[:1] in (["find"], ["search"])
    if brief:  # it lives for a tenth of a second: to look for garbage, and to tidy up at the end, takes a part of that
        import gc

        gc.disable()
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    if "--json" in args:  # it is UTF-8 whatever the locale: our escapes of what that cannot spell are none of JSON's
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    try:
        status = action(args)
        sys.stdout.flush()
    except BrokenPipeError:
        status = 0
        _drop_output()
    except KeyboardInterrupt:
        status = INTERRUPTED
    except Exception as error:
        from recall.cli.failure import report

        status = report(error, args)
        _drop_output()
    if brief:
        _leave(status)
    sys.exit(status)


def _open_closed_streams() -> None:
    """What the caller has closed is opened on nothing. Else the next file that is opened, the index for one, would be what
    a word on stderr is written into."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            fd = os.open(os.devnull, os.O_RDWR)
            if fd != number:
                os.dup2(fd, number)
                os.close(fd)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8"))


def _leave(status: int) -> None:
    """End the process with what was printed written out, and nothing else: no module is taken down one by one."""
    try:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except OSError:
        return  # the ordinary way out tells
    os._exit(status)


def program() -> str:
    """The name that recall was called by: `recall`, unless it is linked under another one."""
    name = os.path.basename(sys.argv[0]) if sys.argv else ""
    return name if name and not name.endswith(".py") and not name.startswith("-") else "recall"


def _version(args: list[str]) -> int:
    from recall import __version__

    print(f"recall {__version__}")
    return 0


def _command(args: list[str]) -> int:
    if args[:2] == ["completion", "--candidates"]:
        from recall.cli.candidates import run as candidates

        return candidates(args[2:])
    if not args and _at_a_terminal():
        from recall.cli.picker import pick_or_list

        return pick_or_list()
    if args and args[0] in QUICK and not any(key.endswith("_COMPLETE") for key in os.environ):
        module = __import__(COMMANDS[ALIASES.get(args[0], args[0])][0], fromlist=["OPTIONS"])
        from recall.cli.options import quick

        line = quick(module.OPTIONS, args[1:])
        if line is not None:
            words, options = line
            if hasattr(module, "WORDS"):
                return int(module.run(words, **options))
            if not words:
                return int(module.run(**options))
    from recall.cli.group import run

    return run(args)


def _at_a_terminal() -> bool:
    """Is there a person, at a terminal that can show more than lines?"""
    streams = (sys.stdin, sys.stdout)
    completing = any(key.endswith("_COMPLETE") for key in os.environ)
    drawn = os.environ.get("TERM", "dumb") != "dumb"
    return drawn and not completing and all(stream is not None and stream.isatty() for stream in streams)


def _drop_output() -> None:
    """Send what is still unwritten nowhere: the flush at exit would fail once more and say so."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
