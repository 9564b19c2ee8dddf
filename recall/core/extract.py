"""What code alone can tell of a session: a pass over its records, in bounded memory, without any model.

Fed record by record; what is kept is cut with a margin, and secrets are replaced before the final cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from recall.core.clean import clean
from recall.core.facts import Facts
from recall.core.model import ACTION, ASSISTANT, OUTPUT, THINKING, USER, Extract, Record
from recall.core.names import names
from recall.core.phrases import boilerplate, hollow, next_steps, questions
from recall.core.plain import one_line
from recall.core.shorten import clean_line, clean_middle, held
from recall.core.tally import Tally

ASK = 1000
ANSWER = 1500
LINE = 200
"""Characters of a request, an answer and of anything else in an `Extract`."""

FILES = 20
COMMANDS = 20

SHELLS = frozenset(
    """
    bash shell exec_command local_shell local_shell_call shell_command unified_exec powershell container.exec terminal
    run_command execute_command run_shell_command run_terminal_cmd write_stdin
    """.split()  # noqa: SIM905 - a list of words
)
_EDITORS = frozenset(
    """
    edit write multiedit notebookedit write_file edit_file create_file replace str_replace str_replace_editor
    str_replace_based_edit_tool insert
    """.split()  # noqa: SIM905 - a list of words
)
_READERS = frozenset(("read", "read_file", "view", "notebookread", "view_image", "read_many_files"))
_PLANS = frozenset(("TodoWrite", "update_plan", "todo_write"))
_SHOWN = frozenset(("ExitPlanMode", "AskUserQuestion", "request_user_input"))
_DULL = frozenset(
    """
    ls cat cd pwd echo head tail sed awk grep rg find wc which type true false sleep clear test [ nl tree file stat du
    df env export source set printf date less more cut sort uniq xargs tee ps for while if jq touch mkdir dir
    get-childitem get-content select-string whoami command time basename dirname realpath readlink diff chmod
    """.split()  # noqa: SIM905 - a list of words
)
_OF_CLIENT = frozenset(
    [
        "compact",
        "clear",
        "model",
        "resume",
        "rename",
        "config",
        "mcp",
        "agents",
        "memory",
        "export",
        "add-dir",
        "plugin",
        "review",
    ]
)
_ALWAYS_FINE = frozenset(("grep", "rg", "diff", "test", "[", "which", "cmp", "pgrep", "find", "ls", "command", "type"))

_STEP = re.compile(
    r"^\s*(?:cd\s+(?:'[^']*'|\"[^\"]*\"|\S+)\s*(?:&&|;)\s*|(?:export\s+)?[A-Z_][A-Z0-9_]*=(?:'[^']*'|\"[^\"]*\""
    r"|\S*)\s+(?:&&\s*)?|set -[a-z]+(?: pipefail)?\s*(?:&&|;)\s*)+"
)
_EXIT = re.compile(r"Exit code:? -?[1-9]\d{0,9}\b")
_WRITTEN = re.compile(r"\bcat\s*>{1,2}\s*(\"[^\"\n]+\"|'[^'\n]+'|[^\s<>|&;]+)\s*<<")
_SHOWN_FILE = re.compile(
    r"(?:^|[;&|]\s*)(?:cat|nl(?: -ba)?|bat|(?:head|tail)(?: -n? ?\d+)?"
    r"|sed -n '?[\d,p$]+'?)\s+(?![-<>|])([^\s|;&<>'\"*?$]+)"
)
_PATCHED = re.compile(r"^\*\*\* (?:Add File|Update File|Delete File|Move to): ([^\n]{1,1024})", re.M)
_SKILL_FILE = re.compile(r"skills/([\w.:-]{1,60})/SKILL\.md")
_PAGES = re.compile(r" \d+(?:-\d+)?$")

_COMMITS = re.compile(r"\bgit\b.*\b(?:commit|merge|cherry-pick|revert|rebase|am)\b|\b(?:commit|ship|release)\b")
_COMMIT = re.compile(r"^\[([^\]\n]{1,200}?)(?: \(root-commit\))? ([0-9a-f]{7,40})\] ([^\n]{1,4000})", re.M)
_BRANCH = re.compile(
    r"\bgit (?:-C \S+ )?(?:(?:checkout|switch) (?:-q )?(?:-b|-B|-c|-C|--create)"
    r"|worktree add (?:\S+ )?-b) ['\"]?([\w./#@+-]{1,120})"
    r"|\bgit (?:-C \S+ )?push (?:(?:-u|-f|--set-upstream|--force(?:-with-lease)?"
    r"|-q) )*(?!-)[\w.-]+ (?!-)['\"]?(?:HEAD:)?([\w./#@+-]{1,120})"
)
_PULL = re.compile(r"https?://[^\s\"'<>()\[\]`\\]{1,200}?/(?:pull|merge_requests|pull-requests)/(\d{1,7})(?!\d)")
_PULL_WORD = re.compile(
    r"\b(?:PR|MR|[Pp]ull [Rr]equest|[Mm]erge [Rr]equest)s? ?[#!](\d{1,7})(?!\d)|\bgh pr (?:view|merge|checkout|edit"
    r"|close|review|comment|diff|checks|ready) (\d{1,7})\b|\bpr-link #(\d{1,7})\b"
)
_NUMBERED = re.compile(r"[#!]\d")
_URL = re.compile(r"https?://[^\s\"'<>`\\\])}|、。，；：！？）】」』\u2026]{3,500}")
_URL_ENDS = ".,;:!?*_~)"
_TASK_MADE = re.compile(r"Task #(\w{1,12}) created")
_TASK_SET = re.compile(r"^#(\w{1,12}) (\w{1,20})$", re.M)
_POINT = re.compile(r"^\[([ ~])\] (.+)$", re.M)
_REFUSED = (
    "The user doesn't want to",
    "Permission for this tool use was denied",
    "<tool_use_error>Sibling",
    "<tool_use_error>Cancelled",
    "[Request interrupted",
)
_TELLING = re.compile(
    r"error|fatal|fail|not found|no such|denied|cannot|can't|timed out|exception|panic|refused|invalid|E   ", re.I
)
_TYPED_COMMAND = re.compile(r"/([\w:.-]{2,60})(?:\s|\Z)")

_PENDING = 64
_FAILED = 10
_STALE = 3  # requests after which a to-do list that was not touched since is history


class Extractor:
    """Takes the records of a session, in order, and tells at any moment what is known (`result`).

    Give it all zones: without OUTPUT no failures and commits are seen, without THINKING no to-do lists.
    Memory does not grow with the session.
    """

    def __init__(self) -> None:
        self._n = 0
        self._users = 0
        self._user_at = self._answer_at = self._action_at = 0
        self._first = ""  # the first request that says something
        self._last = ""
        self._answer = ""
        self.edits = Tally(2000)
        self._reads = Tally(1000)
        self._commands = Tally(400)
        self._failed: dict[str, str] = {}  # command -> what it said
        self._last_failed = False
        self._tools = Tally(200)
        self._skills = Tally(60)
        self._commits: dict[str, str] = {}
        self._branches = Tally(40)
        self._pulls: dict[str, str] = {}  # number -> URL, ''
        self._urls = Tally(200)
        self._named = Tally(400)
        self._pending: dict[str, str] = {}  # call -> command
        self._plan: list[str] = []
        self._plan_at = 0
        self._tasks: dict[str, list[str]] = {}  # number -> [subject, status]
        self._making: dict[str, str] = {}  # call -> subject
        self._asking = ""  # the call of a question that was not answered yet
        self._shown = ""  # the call whose input is shown as an answer
        self._patch: tuple[str, str] | None = None  # call and words of a patch whose text may follow

    def add(self, record: Record) -> None:
        zone = record.zone
        if self._patch is not None and zone != OUTPUT:
            self._patched(record)
        self._n += 1
        if zone == OUTPUT:
            self._output(record)
        elif zone == ACTION:
            self._action(record)
        elif zone == USER:
            self._user(record.text)
        elif zone == ASSISTANT:
            self._said(record)
        elif zone == THINKING and record.tool:
            self._body(record)

    def result(self, facts: Facts) -> Extract:
        if self._patch is not None:
            self._patched(None)
        ask = facts.first_ask if not boilerplate(facts.first_ask) else self._first or facts.first_ask
        last = facts.last_ask if not boilerplate(facts.last_ask) else self._last or facts.last_ask
        done_turn = self._answer_at > max(self._user_at, self._action_at)
        answer = clean(self._answer)
        asked = self._answer_at > self._user_at and not (self._action_at > self._answer_at)
        return Extract(
            ask=clean_line(ask or self._first, ASK),
            last_ask=clean_line(last or self._last, ASK),
            last_answer=clean_middle(self._answer, ANSWER),
            edited=self._files(self.edits, facts.cwd),
            read=self._files(self._reads, facts.cwd),
            commands=_lines(self._commands.most(COMMANDS, by_use=False)),
            failed=_lines(f"{command} → {said}" if said else command for command, said in self._failed.items()),
            tools=tuple((clean_line(name, 80), count) for name, count in self._tools.ranked(12)),
            skills=_lines(self._skills.most(8, by_use=False)),
            commits=_lines(f"{number} {words}" for number, words in self._commits.items()),
            branches=_lines(self._branches.most(6, by_use=False)),
            prs=_lines(url or f"PR #{number}" for number, url in self._pulls.items()),
            urls=_lines(self._urls.most(10, by_use=False)),
            questions=_lines(questions(answer)) if asked else (),
            todo=self._open_points(),
            interrupted=(facts.interrupted or not done_turn) and self._users > 0,
            last_failed=self._last_failed,
            named=_lines(self._named.most(16)),
            steps=_lines(step for step in next_steps(answer) if not hollow(step)),
        )

    # -- what was said

    def _user(self, text: str) -> None:
        self._user_at = self._n
        self._users += 1
        self._asking = ""
        match = _TYPED_COMMAND.match(text)
        if match and match[1] not in _OF_CLIENT:
            self._skills.add(f"/{match[1]}")
        if not boilerplate(text):
            self._last = held(text, ASK)
            self._first = self._first or self._last
        head = clean(text[:6000])[:2000]
        for name, weight in names(head):
            self._named.add(name, weight)
        self._addresses(head, 4)

    def _said(self, record: Record) -> None:
        if record.call and record.call == self._shown:
            self._asking = record.call
        self._answer_at = self._n
        self._answer = held(record.text, ANSWER)
        self._addresses(record.text[:20_000], 1)

    def _addresses(self, text: str, weight: int) -> None:
        if _may_name_pulls(text):
            for match in _PULL_WORD.finditer(text):
                self._pull(match[1] or match[2] or match[3], "")
        if "://" in text:
            for match in _URL.finditer(text):
                url = _whole_url(match[0])
                pull = _PULL.match(url)
                if pull:
                    self._pull(pull[1], pull[0])
                elif url:
                    self._urls.add(url, weight)

    def _pull(self, number: str, url: str) -> None:
        if number in self._pulls:
            self._pulls[number] = self._pulls[number] or url
        elif len(self._pulls) < 12:
            self._pulls[number] = url

    # -- what was done

    def _action(self, record: Record) -> None:
        tool, text = record.tool, record.text
        kind = tool.lower()
        rest = text[len(tool) :].strip()
        if kind == "pr-link":
            self._addresses(text, 1)
            return
        self._action_at = self._n
        self._tools.add(tool)
        if tool in _SHOWN:
            self._shown = record.call
        elif "apply_patch" in text[:400] and (kind in SHELLS or kind in ("apply_patch", "applypatch")):
            self._patch = (record.call, rest)
        elif kind in SHELLS:
            self._command(record, rest)
        elif kind in _EDITORS:
            path = rest.split(" ", 1)[-1] if kind.startswith("str_replace_") and " " in rest else rest
            if path and "\n" not in path and len(path) < 500:
                self.edits.add(path)
        elif kind in _READERS:
            path = _PAGES.sub("", rest)
            if path and "\n" not in path and len(path) < 500:
                self._reads.add(path)
        elif tool in ("Skill", "SlashCommand"):
            if rest:
                self._skills.add(rest.split()[0])
        elif tool == "TaskCreate":
            self._making[record.call] = rest.split("\n", 1)[0]
            _forget(self._making, _PENDING)
        elif "://" in text:
            self._addresses(text, 2)

    def _command(self, record: Record, text: str) -> None:
        line = _STEP.sub("", text.split("\n", 1)[0]).strip()
        if record.call or line:
            self._pending[record.call or f"@{record.tool}"] = line or one_line(text)[:LINE]
            _forget(self._pending, _PENDING)
        if not line:
            return
        skill = _SKILL_FILE.search(line)
        if skill:
            self._skills.add(skill[1])
        for match in _WRITTEN.finditer(text):
            self.edits.add(match[1].strip("'\""))
        program = line.split(" ", 1)[0].rsplit("/", 1)[-1].lower()
        if program in _DULL:
            for match in _SHOWN_FILE.finditer(line):
                self._reads.add(match[1])
        else:
            self._commands.add(line)
        if "git" in line:
            for match in _BRANCH.finditer(text):
                name = match[1] or match[2]
                if name not in ("HEAD", "main", "master"):
                    self._branches.add(name)
        if "://" in line or "gh pr" in line:
            self._addresses(line, 2)

    def _patched(self, record: Record | None) -> None:
        """The files of a patch: from its text, which may follow as the body of the call, else from the action."""
        call, words = self._patch or ("", "")
        self._patch = None
        paths: list[str] = []
        if record is not None and record.zone == THINKING and record.call == call:
            paths = [path.strip() for path in _PATCHED.findall(record.text)]
        for path in sorted(paths, key=len, reverse=True):
            words = words.replace(path, " ")
        paths += [word for word in words.split() if word[0] not in "<-'\"$&|(" and word != "apply_patch"]
        for path in paths:
            self.edits.add(path)

    def _body(self, record: Record) -> None:
        if record.tool in _PLANS:
            self._plan_at = self._users
            found = _POINT.findall(record.text)
            self._plan = [text for mark, text in found if mark == "~"] + [text for mark, text in found if mark == " "]
            del self._plan[40:]
        elif record.tool == "TaskUpdate":
            self._plan_at = self._users
            for number, status in _TASK_SET.findall(record.text):
                if number in self._tasks:
                    self._tasks[number][1] = status

    # -- what came of it

    def _output(self, record: Record) -> None:
        call = record.call
        if call and call == self._asking:
            self._asking = ""
            self._action_at = self._n
        if self._making and call in self._making:
            subject = self._making.pop(call)
            match = _TASK_MADE.search(record.text[:200])
            if match and len(self._tasks) < 200:
                self._tasks[match[1]] = [subject, "pending"]
                self._plan_at = self._users
            return
        if record.tool.lower() not in SHELLS:
            return
        command = self._pending.pop(call or f"@{record.tool}", "")
        text = record.text
        failed = record.failed or _EXIT.match(text) is not None or text.startswith("Error: ")
        self._last_failed = False
        if failed and not text.startswith(_REFUSED):
            said = _first_error(text)
            fine = command.split(" ", 1)[0].rsplit("/", 1)[-1] in _ALWAYS_FINE
            if command and not fine:
                self._last_failed = True
                self._failed.pop(command, None)
                self._failed[command] = said
                _forget(self._failed, _FAILED)
        if _COMMITS.search(command) or record.tool == "write_stdin":
            for branch, number, words in committed(text):
                self._commits[number] = words
                name = branch.removeprefix("detached HEAD").strip()
                if name and name not in ("main", "master") and " " not in name:
                    self._branches.add(name)
            _forget(self._commits, 12)
        if "gh pr create" in command or (
            "pull/" in text[:5000] and "git push" not in command and command.startswith("gh ")
        ):
            for match in _PULL.finditer(text[:5000]):
                self._pull(match[1], match[0])

    # -- the result

    def _open_points(self) -> tuple[str, ...]:
        if self._users - self._plan_at >= _STALE:
            return ()
        tasks = [
            subject
            for wanted in ("in_progress", "pending")
            for subject, status in self._tasks.values()
            if status == wanted
        ]
        return _lines(dict.fromkeys((tasks or self._plan)[:10]))

    def _files(self, tally: Tally, cwd: str) -> tuple[str, ...]:
        merged = Tally(len(tally) + 1)
        for path, count in tally.items():
            merged.add(relative(path, cwd), count)
        return _lines(merged.most(FILES))

    def edited(self, cwd: str, most: int = 60) -> list[tuple[str, int]]:
        """Edited files, most often edited first, with counts."""
        merged = Tally(len(self.edits) + 1)
        for path, count in self.edits.items():
            merged.add(relative(path, cwd), count)
        return [(clean_line(path, LINE), count) for path, count in merged.ranked(most)]


def committed(output: str) -> list[tuple[str, str, str]]:
    """(branch, short number, subject) of each commit that git's output says it made: `[main 1a2b3c4] Subject`."""
    found: list[tuple[str, str, str]] = _COMMIT.findall(output[:50_000])
    return found


def extract(records: Iterable[Record], facts: Facts) -> Extract:
    """What `records` tell. `facts` is read when they are through, so that it may be filled on the way."""
    extractor = Extractor()
    for record in records:
        extractor.add(record)
    return extractor.result(facts)


def relative(path: str, cwd: str) -> str:
    """A path as it is seen from the session's folder, where it lies in it."""
    path = path.strip().strip("'\"")
    base = cwd.rstrip("/\\")
    if base and path.startswith(base) and path[len(base) : len(base) + 1] in ("/", "\\"):
        return path[len(base) + 1 :] or path
    return path.removeprefix("./") or path


def _lines(texts: Iterable[str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for text in texts:
        line = clean_line(text, LINE)
        if line:
            found.setdefault(line)
    return tuple(found)


def _may_name_pulls(text: str) -> bool:
    """A quick look whether _PULL_WORD can match: what all of its forms have in them."""
    if "gh pr " in text:
        return True
    if "PR" in text or "MR" in text or "equest" in text or "pr-link" in text:
        return _NUMBERED.search(text) is not None
    return False


def _forget(kept: dict[str, str], most: int) -> None:
    while len(kept) > most:
        del kept[next(iter(kept))]


def _whole_url(url: str) -> str:
    """Without the signs that end the sentence around it."""
    while url and url[-1] in _URL_ENDS and not (url[-1] == ")" and "(" in url):
        url = url[:-1]
    return url if 10 < len(url) < 480 and "..." not in url and "[redacted" not in url else ""


def _first_error(text: str) -> str:
    """The line of an output that says what went wrong."""
    lines = list(_said_lines(text[:6000]))
    if any(line.startswith("Traceback (most recent call last)") for line in lines):
        tail = list(_said_lines(text[-1500:]))
        return tail[-1] if tail else ""
    telling = next((line for line in lines if _TELLING.search(line)), "")
    return (telling or (lines[0] if lines else ""))[:4000]


def _said_lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        line = line.strip()
        if line and not _EXIT.fullmatch(line):
            yield line
