"""Our entries in a client's JSON file: put there one edit at a time, and taken out again one by one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from recall.actions.journal import Edit
from recall.core import jsonedit
from recall.core.jsonedit import Gone

Ours = Callable[[str], bool]
"""Is this the command of a hook that recall registered?"""


class Editor:
    """A text and the edits that made it out of the first one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.edits: list[Edit] = []

    def value(self, *path: str | int) -> Any:
        """The value at a place; None where there is none."""
        node = jsonedit.at(self.text, path)
        return None if node is None else node.value(self.text)

    def ensure(self, *path: str, kind: type) -> None:
        """Make the container at a place (dict or list), and the objects above it, where they are missing."""
        for end in range(1, len(path) + 1):
            if jsonedit.at(self.text, path[:end]) is None:
                empty: Any = kind() if end == len(path) else {}
                self._add(path[: end - 1], empty, path[end - 1], "make")

    def append(self, *path: str, value: Any) -> None:
        """One more item in the array at a place, unless it is there already."""
        if value not in (self.value(*path) or []):
            self.ensure(*path, kind=list)
            self._add(path, value, None, "add")

    def put(self, key: str, value: Any) -> None:
        """A member of the root: added, or its value replaced."""
        node = jsonedit.at(self.text, (key,))
        if node is None:
            self._add((), value, key, "add")
        elif node.value(self.text) != value:
            raw = self.text[node.start : node.end]
            self.text = jsonedit.replace(self.text, (key,), json.dumps(value))
            self.edits.append(Edit("set", [], key, value, was=raw))

    def take(self, *path: str | int, ours: bool) -> None:
        """Take an item out; with `ours` it is not to be put back later."""
        self.text, gone = jsonedit.drop(self.text, path)
        if not ours:
            self.edits.append(Edit("take", list(path[:-1]), was=gone.raw, index=gone.place))

    def _add(self, path: jsonedit.Path, value: Any, key: str | None, do: str) -> None:
        self.text, gap = jsonedit.add(self.text, path, value, key)
        self.edits.append(Edit(do, list(path), key, value, gap=gap))


def handlers(hooks: Any) -> Iterator[tuple[str, int, int, str]]:
    """(event, group, position, command) of every command in a `hooks` object, the last ones first; what has another form
    than the clients know is passed over, as they do."""
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for group in range(len(groups) - 1, -1, -1) if isinstance(groups, list) else ():
            found: Any = groups[group]
            listed: Any = found.get("hooks") if isinstance(found, dict) else None
            for at in range(len(listed) - 1, -1, -1) if isinstance(listed, list) else ():
                if isinstance(listed[at], dict) and isinstance(listed[at].get("command"), str):
                    yield event, group, at, listed[at]["command"]


def take_handlers(editor: Editor, which: Ours, ours: bool, keep: tuple[Any, ...] = ()) -> list[str]:
    """Take out each hook whose command is meant, and its group where nothing else is in it; the commands.

    Groups that equal one of `keep` stay.
    """
    found = []
    for event, group, at, command in handlers(editor.value("hooks")):
        if not which(command) or (event, editor.value("hooks", event, group)) in keep:
            continue
        found.append(command)
        if len(editor.value("hooks", event, group, "hooks")) == 1:
            editor.take("hooks", event, group, ours=ours)
        else:
            editor.take("hooks", event, group, "hooks", at, ours=ours)
    return found


def undo(text: str, edits: list[Edit], ours: Ours) -> str:
    """The text without what the edits put there, where it still is there; what somebody made of it stays."""
    for edit in reversed(edits):
        text = _undo(text, edit)
    return without_handlers(text, ours)


def without_handlers(text: str, ours: Ours) -> str:
    """The text without any hook of ours, whoever moved it where."""
    editor = Editor(text)
    for event, group, at, command in handlers(editor.value("hooks")):
        if ours(command):
            if len(editor.value("hooks", event, group, "hooks")) == 1:
                editor.take("hooks", event, group, ours=True)
                if not editor.value("hooks", event):
                    editor.take("hooks", event, ours=True)
            else:
                editor.take("hooks", event, group, "hooks", at, ours=True)
    return editor.text


def _undo(text: str, edit: Edit) -> str:
    path = tuple(edit.at)
    box = jsonedit.at(text, path)
    if box is None or box.kind != ("array" if edit.key is None else "object"):
        return text  # somebody made something else of it
    value = box.value(text)
    if edit.do == "take":
        if json.loads(edit.was) in value:
            return text
        return jsonedit.put(text, path, Gone(edit.was, edit.index))
    if edit.key is None:
        if edit.value not in value:
            return text
        index = len(value) - 1 - value[::-1].index(edit.value)
        return jsonedit.drop(text, (*path, index), edit.gap)[0]
    if edit.key not in value or value[edit.key] != edit.value:
        return text
    if edit.do == "set":
        return jsonedit.replace(text, (*path, edit.key), edit.was)
    return jsonedit.drop(text, (*path, edit.key), edit.gap)[0]
