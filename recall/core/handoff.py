"""Where a session stood, for the one that goes on: as text of at most 25 lines and 2,000 characters, and back.

`# <title>`, a line `id | project | updated
| by`, then `## Task now`, `## Done`, `## In flight`, `## Next` (numbered) and
`## Gotchas`; a section without points is left out.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Mapping

from recall.core.card import client_name
from recall.core.facts import Facts
from recall.core.model import Extract, Handoff
from recall.core.phrases import boilerplate, hollow, same, says_done
from recall.core.plain import one_line, plain
from recall.core.session import project_of
from recall.core.shorten import clean_line, shorten

LINES = 25
CHARACTERS = 2000
TITLE = 100
TASK = 400
POINT = 240
POINTS = 8

_SECTIONS = ("done", "in_flight", "next", "gotchas")
_HEADINGS = {"task": "Task now", "done": "Done", "in_flight": "In flight", "next": "Next", "gotchas": "Gotchas"}
_NAMES = {
    name: key
    for key, names in {
        "task": "task now|task|current task|задача|сейчас|任务|当前任务|現在のタスク|aufgabe",
        "done": "done|completed|сделано|готово|已完成|完成|完了|erledigt",
        "in_flight": "in flight|in progress|in-flight|в работе|进行中|進行中|作業中|in arbeit",
        "next": "next|next steps|next step|дальше|следующие шаги|下一步|次|次のステップ|nächste schritte",
        "gotchas": "gotchas|gotcha|notes|pitfalls|warnings|подводные камни|注意|注意事项|注意点|fallstricke",
    }.items()
    for name in names.split("|")
}
_HEADING = re.compile(r"^#{2,6}\s+(.*?)\s*:?\s*#*$")
_MARK = re.compile(r"^(?:[-*+•]|\d{1,3}[.)])\s+")


def render(handoff: Handoff) -> str:
    """The text. What does not fit is left out: first of what is done, then gotchas, what is in flight, the end of the
    task; the next steps stay longest."""
    title = shorten(one_line(handoff.title) or one_line(handoff.task) or handoff.id, TITLE)
    task = shorten(one_line(handoff.task), TASK)
    points = {key: [text for text in map(one_line, getattr(handoff, key)) if text] for key in _SECTIONS}
    size = POINT
    while True:
        text = _text(handoff, title, task, points, size)
        if text.count("\n") <= LINES and len(text) <= CHARACTERS:
            return text
        if (
            len(text) > CHARACTERS
            and size > 120
            and any(len(point) > 120 for key in _SECTIONS for point in points[key])
        ):
            size -= 40
        elif not _drop(points):
            if len(task) > 120:
                task = shorten(task, len(task) // 2)
            elif len(points["next"]) > 1:
                points["next"].pop()
            else:
                return _cut(text)


def _drop(points: dict[str, list[str]]) -> bool:
    """Leave one point out where it is missed least (of what is done the oldest); False when only next steps are left."""
    for key, least in (
        ("done", 3),
        ("gotchas", 2),
        ("in_flight", 2),
        ("next", 5),
        ("done", 1),
        ("gotchas", 1),
        ("in_flight", 1),
        ("done", 0),
    ):
        if len(points[key]) > least:
            points[key].pop(0 if key == "done" else -1)
            return True
    for key in ("gotchas", "in_flight"):
        if points[key]:
            points[key].pop()
            return True
    return False


def _text(handoff: Handoff, title: str, task: str, points: Mapping[str, list[str]], size: int) -> str:
    about = (handoff.id, handoff.project, _moment(handoff.updated), handoff.by)
    lines = [f"# {title}", " | ".join(shorten(one_line(part), 200).replace(" | ", " ¦ ") or "-" for part in about)]
    if task:
        lines += [f"## {_HEADINGS['task']}", _plain_line(task)]
    for key in _SECTIONS:
        if points[key]:
            lines.append(f"## {_HEADINGS[key]}")
            for number, point in enumerate(points[key], 1):
                mark = f"{number}. " if key == "next" else "- "
                lines.append(mark + shorten(point, size))
    return "\n".join(lines) + "\n"


def _plain_line(text: str) -> str:
    """A line that is read as no heading."""
    return text.lstrip("# ") or text.replace("#", "＃")


def _cut(text: str) -> str:
    lines = text.splitlines()[:LINES]
    return shorten("\n".join(lines), CHARACTERS - 1) + "\n"


def _moment(time: float) -> str:
    if not 0 < time < 253402300799:
        return "-"
    return datetime.datetime.fromtimestamp(int(time), datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _time(text: str) -> float:
    try:
        moment = datetime.datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
    except ValueError:
        return 0.0
    return (moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)).timestamp()


def parse(text: str, id: str = "") -> Handoff:
    """The handoff that a text holds; anything at all is read. `id` stands in for one that the text does not name.

    A file that people edited is understood: other heading levels and languages, other bullets, lines without any. What
    stands in a section that is not known is left out.
    """
    title, project, by, updated, section = "", "", "", 0.0, ""
    named = ""
    task: list[str] = []
    points: dict[str, list[str]] = {key: [] for key in _SECTIONS}
    for raw in plain(text.removeprefix("\ufeff")).splitlines():
        line = raw.strip()
        if not line:
            continue
        heading = _HEADING.match(line)
        if heading:
            section = _NAMES.get(heading[1].casefold().strip("* "), "?")
        elif line.startswith("# ") and not title and not section:
            title = line[2:].strip()
        elif not section:
            parts = [part.strip() for part in line.split(" | ")]
            if len(parts) >= 4 and not named:
                named, by, updated = parts[0], parts[-1], _time(parts[-2])
                project = " | ".join(parts[1:-2])
        elif section == "task":
            task.append(_MARK.sub("", line))
        elif section in points:
            point = _MARK.sub("", line)
            if point == line and points[section] and raw[:1] in " \t":
                points[section][-1] += f" {line}"
            else:
                points[section].append(point)
    blank = ("-", "")
    return Handoff(
        id=id if named in blank else named,
        title=title,
        project="" if project in blank else project,
        updated=updated,
        by="" if by in blank else by,
        task=one_line(" ".join(task)),
        done=tuple(points["done"]),
        in_flight=tuple(points["in_flight"]),
        next=tuple(points["next"]),
        gotchas=tuple(points["gotchas"]),
    )


def extracted_handoff(extract: Extract, facts: Facts, *, id: str, now: float) -> Handoff:
    """A handoff without any model: what was asked, committed and edited, what is open, what failed."""
    task = shorten(extract.ask, TASK)
    asked_last = extract.last_ask if not same(extract.last_ask, extract.ask) and not hollow(extract.last_ask) else ""
    if asked_last:
        task = f"{shorten(extract.ask, TASK // 2)} → {shorten(asked_last, TASK // 2)}"
    done = [*extract.commits[-3:], *extract.prs[-2:]]
    if extract.edited:
        done.append(_listed(extract.edited, 6))
    in_flight: list[str] = []
    if extract.interrupted:
        in_flight.append(asked_last or extract.last_answer or extract.ask)
    elif extract.last_answer:
        (done if says_done(extract.last_answer) else in_flight).append(extract.last_answer)
    steps = [*extract.todo, *extract.questions, *extract.steps]
    if not steps and extract.interrupted and asked_last:
        steps = [asked_last]
    return Handoff(
        id=id,
        title=_title(extract, facts),
        project=facts.cwd,
        updated=now,
        by="extract",
        task=task,
        done=_points(done),
        in_flight=_points(in_flight),
        next=_points(dict.fromkeys(steps)),
        gotchas=_points(extract.failed[-3:] if extract.last_failed or extract.interrupted else ()),
    )


def handoff_from_reply(value: object, extract: Extract, facts: Facts, *, id: str, model: str, now: float) -> Handoff:
    """The handoff that a model's reply makes. Wrong types and lengths are put up with; ValueError with the reason when
    it holds no task. Whether it is good enough is asked of `refusal`."""
    if not isinstance(value, Mapping):
        raise ValueError(f"the reply is no object but {type(value).__name__}")
    task = _line(value.get("task"), TASK)
    if not task:
        raise ValueError("the reply has no task")
    return Handoff(
        id=id,
        title=facts.title
        if facts.title and facts.title_by == "user"
        else _line(value.get("title"), TITLE) or _title(extract, facts),
        project=facts.cwd,
        updated=now,
        by=model,
        task=task,
        done=_points(_list(value.get("done"))),
        in_flight=_points(_list(value.get("in_flight"))),
        next=_points(step for step in _list(value.get("next")) if not hollow(step)),
        gotchas=_points(_list(value.get("gotchas"))),
    )


def refusal(handoff: Handoff) -> str:
    """Why a handoff is not worth keeping, '' when it is: empty, a task that is nobody's, or no real next step.

    One that code extracted may have no next step, if it tells what was under way or done.
    """
    if not handoff.task.strip():
        return "no task"
    if boilerplate(handoff.task):
        return "the task only repeats boilerplate"
    steps = [step for step in handoff.next if not boilerplate(step)]
    if not steps:
        if handoff.by == "extract" and (handoff.in_flight or handoff.done):
            return ""
        return "no next step" if not handoff.next else "the next step says nothing"
    if handoff.by != "extract" and all(same(step, handoff.task) for step in steps):
        return "the next step only repeats the task"
    return ""


def brief(handoff: Handoff, extract: Extract, for_client: str, *, task: str = "", complete: bool = False) -> str:
    """What the other client is given to go on with: task, done, in flight, next, gotchas, paths. Markdown.

    `task`, where it is given, is a person's and stands there whole; the handoff's own is then told as what went before.
    `complete`: a section without points is there as well.
    """
    source = f"session {handoff.id}" + (f", {_moment(handoff.updated)}" if handoff.updated else "")
    taken = f"Taken from {source}. It tells where the work stood: check it against the files before you go on."
    done, steps = list(handoff.done), list(handoff.next)
    if task.strip():
        if handoff.task:
            done.insert(0, f"Before this, the task was: {handoff.task}")
        about = "\n".join("\\" + line if line.startswith("#") else line for line in plain(task).strip().splitlines())
        title = one_line(task)
        steps = steps or ["Begin with the task above"]
    else:
        about, title = _plain_line(clean_line(handoff.task, TASK)), one_line(handoff.title) or handoff.id
    parts = [
        f"# Brief for {client_name(for_client)}: {shorten(title, TITLE)}",
        taken if handoff.id else "",
        f"## Task\n{about}" if about else _block("Task", [], complete=complete),
        _block("Done", done, complete=complete),
        _block("In flight", handoff.in_flight, complete=complete),
        _block("Next", steps, numbered=True, complete=complete),
        _block("Gotchas", handoff.gotchas or extract.failed[-3:], complete=complete),
        _block(
            "Paths",
            [*([f"{handoff.project} (folder)"] if handoff.project else []), *extract.edited[:15], *extract.prs[-3:]],
            complete=complete,
        ),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _block(heading: str, points: Iterable[str], *, numbered: bool = False, complete: bool = False) -> str:
    texts = [clean_line(text, TASK) for text in points if text.strip()]
    lines = [f"{number}. {text}" if numbered else f"- {_plain_line(text)}" for number, text in enumerate(texts, 1)]
    if not lines and complete:
        lines = ["- nothing noted"]
    return "\n".join([f"## {heading}", *lines]) if lines else ""


def _title(extract: Extract, facts: Facts) -> str:
    title = facts.title if facts.title and not boilerplate(facts.title) else extract.ask or extract.last_ask
    folder = project_of(facts.cwd)
    title = clean_line(title, TITLE)
    return shorten(f"{folder} · {title}" if folder and folder not in title else title, TITLE)


def _listed(paths: tuple[str, ...], most: int) -> str:
    rest = len(paths) - most
    return ", ".join(paths[:most]) + (f" (+{rest})" if rest > 0 else "")


def _points(texts: Iterable[str]) -> tuple[str, ...]:
    found = dict.fromkeys(_MARK.sub("", clean_line(text, POINT)) for text in texts)
    return tuple(text for text in found if text)[:POINTS]


def _line(value: object, size: int) -> str:
    if isinstance(value, (list, tuple)):
        value = "; ".join(item for item in value if isinstance(item, str))
    return clean_line(value, size) if isinstance(value, str) else ""


def _list(value: object) -> list[str]:
    if isinstance(value, str):
        value = [line for line in value.splitlines() if line.strip()]
    return [item for item in value if isinstance(item, str)] if isinstance(value, (list, tuple)) else []
