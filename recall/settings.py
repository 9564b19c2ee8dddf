"""Where things are and how recall was told to behave: environment, config file and HOME as one value.

The only reader of `os.environ` outside the hook. Sources, the later wins: defaults, `config.toml`, environment
variables `RECALL_<KEY>`.
"""

# No `from __future__ import annotations`: each as a string would be compiled when the module is loaded.
import os
from collections.abc import Mapping
from typing import NamedTuple

from recall.errors import Usage

ENGINES = ("auto", "api", "claude", "none")
"""What `llm` may be."""


PROGRAM_PLACES = (
    "~/.local/bin",
    "~/.claude/local",
    "~/.npm-global/bin",
    "~/.bun/bin",
    "/opt/homebrew/bin",
    "/usr/local/bin",
    "/usr/bin",
)
"""Where clients and tools are looked for besides PATH, which a timer's is short."""


class Settings(NamedTuple):
    """Everything that is configured; paths are absolute."""

    home: str
    archive: str
    data: str
    state: str
    config: str
    claude_homes: tuple[str, ...]
    codex_homes: tuple[str, ...]
    current_session: str  # the session that runs us, '' at a person's terminal
    claude_flags: tuple[str, ...]
    color: bool | None  # None: by the terminal
    max_line: int  # bytes; longer transcript lines are passed over
    llm: str = "auto"  # the engine for cards and handoffs: auto, api, claude, none
    model: str = "claude-haiku-5-5"
    max_llm_per_day: int = 100  # model calls in 24 hours
    min_events: int = 15  # a session with fewer gets no card unless named
    handoff_days: int = 30  # an older handoff is not used any more
    claude_bin: str = ""  # Claude Code, where it is not found by itself
    guarded: bool = False  # we run inside of a model call of our own
    autoname: bool = False  # sessions of Claude Code that nobody named are called `folder · task`
    startup_digest: bool = False  # a new session is told what was done in its folder
    handoff_after_clear: bool = False  # the handoff is injected after /clear too
    terminal: str = ""  # where sessions are opened; '': by where we run
    tab: bool = False  # in a tab rather than in a window

    @property
    def index(self) -> str:  # type: ignore[override]
        return os.path.join(self.state, "index.db")

    @property
    def model_folder(self) -> str:
        """The empty folder that model calls of our own run in: what a client leaves of them is no session of the user."""
        return os.path.join(self.state, "model")

    @property
    def log(self) -> str:
        return os.path.join(self.state, "recall.log")

    def homes(self, client: str) -> tuple[str, ...]:
        """The homes of one client, the default one first."""
        return self.claude_homes if client == "claude" else self.codex_homes


def load(env: Mapping[str, str] | None = None) -> Settings:
    """Settings from an environment (this process's by default). Raises Usage where it cannot be made sense of."""
    env = os.environ if env is None else env
    home = env.get("HOME", "")
    if not home or not os.path.isabs(home):
        if env is os.environ:
            home = _home_of_user()
        if not home:
            raise Usage(
                "HOME is not set", "set HOME to your home folder, or RECALL_STATE, RECALL_DATA and RECALL_ARCHIVE"
            )
    config = _path(env.get("RECALL_CONFIG"), home) or os.path.join(
        _path(env.get("XDG_CONFIG_HOME"), home) or os.path.join(home, ".config"), "recall", "config.toml"
    )
    table = _read_config(config)

    def value(key: str, default: str) -> str:
        got = env.get("RECALL_" + key.upper())
        if got:
            return got
        from_file = table.get(key)
        return str(from_file) if isinstance(from_file, (str, int)) else default

    def folders(key: str, first: str) -> tuple[str, ...]:
        more = env.get("RECALL_" + key.upper()) or table.get(key) or ()
        names = more.split(os.pathsep) if isinstance(more, str) else [str(item) for item in _list(more)]
        out = [first] + [_path(name, home) for name in names if name]
        return tuple(dict.fromkeys(out))

    def number(key: str, default: int) -> int:
        try:
            got = int(value(key, str(default)))
        except ValueError:
            got = -1
        if got < 0:
            raise Usage(f"{key} is no number: {value(key, '')!r}", f"mend RECALL_{key.upper()} or {config}")
        return got

    def switch(key: str) -> bool:
        return value(key, "0").strip().lower() not in ("", "0", "no", "off", "false")

    engine = value("llm", "auto").lower()
    if engine not in ENGINES:
        raise Usage(f"llm is {engine!r}", f"RECALL_LLM is one of {', '.join(ENGINES)}")
    claude = _path(env.get("CLAUDE_CONFIG_DIR"), home) or os.path.join(home, ".claude")
    codex = _path(env.get("CODEX_HOME"), home) or os.path.join(home, ".codex")
    own = os.path.join(home, ".claude")
    return Settings(
        home=home,
        archive=_path(value("archive", os.path.join(home, "backups", "claude-transcripts")), home),
        data=_path(value("data", os.path.join(own, "session-recaps")), home),
        state=_path(value("state", os.path.join(own, "recall")), home),
        config=config,
        claude_homes=folders("claude_homes", claude),
        codex_homes=folders("codex_homes", codex),
        current_session=env.get("CLAUDE_CODE_SESSION_ID", ""),
        claude_flags=tuple(value("claude_flags", "").split()),
        color=False if env.get("NO_COLOR") else None,
        max_line=number("max_line", 64 << 20),
        llm=engine,
        model=value("model", "claude-haiku-5-5").strip(),
        max_llm_per_day=number("max_llm_per_day", 100),
        min_events=number("min_events", 15),
        handoff_days=number("handoff_days", 30),
        claude_bin=_path(value("claude_bin", ""), home),
        guarded=bool(env.get("RECALL_GUARD")),
        autoname=switch("autoname"),
        startup_digest=switch("startup_digest"),
        handoff_after_clear=switch("handoff_after_clear"),
        terminal=value("terminal", "").strip(),
        tab=switch("tab"),
    )


def _home_of_user() -> str:
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


def _path(text: str | None, home: str) -> str:
    """An absolute path; `~` is HOME, a relative one is taken from HOME."""
    if not text:
        return ""
    if text == "~" or text.startswith("~/"):
        text = home + text[1:]
    return os.path.normpath(os.path.join(home, text))


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _read_config(path: str) -> dict[str, object]:
    try:
        with open(path, "rb") as file:
            raw = file.read()
    except OSError:
        return {}
    import tomllib

    try:
        return tomllib.loads(raw.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise Usage(f"cannot read {path}: {problem}", "mend the file or move it away") from None
