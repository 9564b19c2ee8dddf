"""Imports point down only, heavy modules are loaded by the commands that need them, one place reads the environment.

The modules are read, not run: `ast` sees every import, also those inside functions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent / "recall"

LAYERS = (("cli",), ("tui", "web", "mcp"), ("actions",), ("edge",), ("core",))
"""Top to bottom: a module may import from its own layer (but see EDGE) and from those below."""

EDGE = frozenset(("store", "archive", "shelf", "live", "llm", "clients", "terminals"))
"""Boxes that touch the world, each by itself: none imports another."""

MARKS = {"clients": "parse", "terminals": "available"}
"""In these boxes stand back-ends beside the parts that they share; a back-end has a function of this name."""

FREE = frozenset(("errors", "settings", "files"))
"""Importable from everywhere but core; of ours they may import only each other."""

HEAVY = frozenset(("anthropic", "textual", "mcp", "rich"))
LATE = {"recall.tui", "recall.mcp"}
"""Modules that one command loads, and that may therefore import something heavy at their top."""

ALLOWED: dict[tuple[str, str], str] = {}
"""(importer, imported) -> why this import is right although it points the wrong way."""

ENVIRONMENT = {
    "recall.settings": "the one reader",
    "recall.hook": "a program of its own",
    "recall.hook_main": "a program of its own",
    "recall.hookloop": "a part of it",
    "recall.cli.statusline": "the client tells its process number in a variable",
    "recall.cli": "whether the shell asks for completions is a variable, by click's protocol",
    "recall.cli.group": "the same",
    "recall.cli.ps": "what the programs of terminals are started with",
    "recall.cli.aim": "what the programs of terminals are started with",
    "recall.cli.reopen": "the same",
    "recall.cli.install": "PATH, and the folders of the desktop's standard: what a timer must be told",
    "recall.cli.uninstall": "the same",
    "recall.cli.iterm_install": "asks the bridge whether it runs, as the terminals do: with the environment",
    "recall.cli.to_codex": "hands it to what looks for a terminal and for Codex",
    "recall.cli.demo": "makes the environment of the processes that it starts",
    "recall.cli.picker": "hands the environment to what opens windows and fills the clipboard",
    "recall.cli.web": "whether there is a screen for a browser is said in variables",
    "recall.cli.who": "makes the environment of the git that it asks",
    "recall.cli.doctor": "hands PATH and the XDG folders to what looks for the timer",
    "recall.cli.open": "hands it to what looks for a terminal, and makes the environment of the client it becomes",
    "recall.llm.claude_cli": "makes the environment of the process that it starts, and looks for it on PATH",
}

SQL = {
    "recall.actions.reindex": "only the error class: an index too damaged to open is no reason not to make a new one"
}


class Import(NamedTuple):
    importer: str
    imported: str
    line: int
    top: bool  # at module level: runs when the importer is imported


def _modules() -> dict[str, Path]:
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = ("recall", *path.relative_to(ROOT).with_suffix("").parts)
        if "share" in parts:
            continue
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = _modules()


def _tree(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


def _imports(module: str) -> Iterator[Import]:
    package = module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]

    def walk(node: ast.AST, top: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                for alias in child.names:
                    yield Import(module, alias.name, child.lineno, top)
            elif isinstance(child, ast.ImportFrom):
                base = child.module or ""
                if child.level:
                    above = package.split(".")[: len(package.split(".")) - child.level + 1]
                    base = ".".join([*above, base] if base else above)
                for alias in child.names:
                    name = f"{base}.{alias.name}"
                    yield Import(module, name if name in MODULES else base, child.lineno, top)
            else:
                yield from walk(child, top and not _runs_later(child))

    yield from walk(_tree(module), True)


def _runs_later(node: ast.AST) -> bool:
    if isinstance(node, ast.If):
        return "TYPE_CHECKING" in ast.unparse(node.test)
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))


def _box(module: str) -> str:
    """The part right under `recall`; '' for the package itself."""
    return [*module.split("."), ""][1]


def _depth(module: str) -> int | None:
    """How far down the layers a module stands; None where the order does not hold for it."""
    box = "edge" if _box(module) in EDGE else _box(module)
    return next((number for number, layer in enumerate(LAYERS) if box in layer), None)


def _wrong(found: Import) -> str:
    """Why an import breaks the order; '' if it does not."""
    here, there = _box(found.importer), _box(found.imported)
    if (found.importer, found.imported) in ALLOWED or not there or found.importer in ("recall", "recall.__main__"):
        return ""
    if here == "core":
        return "" if there in ("core", "errors") else "core imports nothing of ours outside core"
    if there in FREE:
        return ""
    if here in FREE:
        return "what everyone may import must not import others"
    if here in EDGE and there in EDGE:
        if here != there:
            return "one edge module imports another"
        if _backend(found.imported) and found.importer != f"recall.{here}":
            return f"one of the {here} imports another"
        return ""
    up, down = _depth(found.importer), _depth(found.imported)
    if up is not None and down is not None and down < up:
        return "points up"
    return ""


def _backend(module: str) -> bool:
    """A client or a terminal itself, not a part that several of them use: it has the interface's names."""
    if _box(module) not in MARKS or module not in MODULES or module.endswith(".base"):
        return False
    return any(isinstance(node, ast.FunctionDef) and node.name == MARKS[_box(module)] for node in _tree(module).body)


IMPORTS = [found for module in MODULES for found in _imports(module)]
OURS = [found for found in IMPORTS if found.imported.split(".")[0] == "recall"]


def test_the_walk_sees_the_package() -> None:
    """The test would pass on nothing: make sure that it reads modules and their imports."""
    assert {"recall", "recall.errors", "recall.core.model", "recall.cli"} <= set(MODULES)
    seen = {(found.imported, found.top) for found in _imports("recall.cli.output")}
    assert {("recall.settings", True), ("json", False)} <= seen


def test_imports_point_down_only() -> None:
    """cli, then actions, then the edge modules, then core; no client, terminal or edge module imports another."""
    wrong = [
        f"{found.importer}:{found.line} imports {found.imported}: {why}" for found in OURS if (why := _wrong(found))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("importer", "imported", "right"),
    [
        ("recall.cli.find", "recall.actions.find", True),
        ("recall.actions.find", "recall.actions.sweep", True),
        ("recall.actions.find", "recall.store", True),
        ("recall.store", "recall.core.model", True),
        ("recall.store", "recall.errors", True),
        ("recall.clients.claude", "recall.clients.base", True),
        ("recall.clients", "recall.clients.claude", True),
        ("recall.core.query", "recall.core.text", True),
        ("recall.core.query", "recall.store", False),
        ("recall.core.query", "recall.settings", False),
        ("recall.store", "recall.archive", False),
        ("recall.store", "recall.actions.find", False),
        ("recall.actions.find", "recall.cli.output", False),
        ("recall.cli.picker", "recall.tui.app", True),
        ("recall.tui.search", "recall.actions.find", True),
        ("recall.tui.app", "recall.cli.output", False),
        ("recall.mcp.answers", "recall.actions.find", True),
        ("recall.mcp.server", "recall.cli.failure", False),
        ("recall.actions.preview", "recall.tui.text", False),
        ("recall.clients.claude", "recall.clients.codex", False),
        ("recall.clients.claude", "recall.store", False),
        ("recall.settings", "recall.store", False),
    ],
)
def test_the_order_itself(importer: str, imported: str, right: bool) -> None:
    """The rule says yes and no where it should, whatever the package holds today."""
    assert (_wrong(Import(importer, imported, 1, True)) == "") is right


def test_heavy_modules_are_loaded_late() -> None:
    """Nothing but a module that one command loads imports a heavy one at its top."""
    wrong = [
        f"{found.importer}:{found.line} imports {found.imported}"
        for found in IMPORTS
        if found.top and found.imported.split(".")[0] in HEAVY and not _late(found.importer)
    ]
    assert not wrong, "\n".join(wrong)


def _late(module: str) -> bool:
    return any(module == late or module.startswith(late + ".") for late in LATE)


def test_core_is_pure() -> None:
    """Core imports nothing that reaches a file, the clock, the environment, a process or a database."""
    outside = {"os", "sys", "io", "pathlib", "time", "subprocess", "sqlite3", "tempfile", "shutil", "socket", "random"}
    wrong = [
        f"{found.importer}:{found.line} imports {found.imported}"
        for found in IMPORTS
        if _box(found.importer) == "core" and found.imported.split(".")[0] in outside
    ]
    assert not wrong, "\n".join(wrong)


def test_the_environment_is_read_in_one_place() -> None:
    """`os.environ` and `os.getenv` occur only where ENVIRONMENT says why."""
    wrong = []
    for module in MODULES:
        if module in ENVIRONMENT:
            continue
        for node in ast.walk(_tree(module)):
            if isinstance(node, ast.Attribute) and node.attr in ("environ", "environb", "getenv"):
                wrong.append(f"{module}:{node.lineno}")
    assert not wrong, "\n".join(wrong)


def test_only_the_store_knows_sql() -> None:
    """sqlite3 is imported by the store, and where SQL says why."""
    wrong = [
        f"{found.importer}:{found.line}"
        for found in IMPORTS
        if found.imported == "sqlite3" and _box(found.importer) != "store" and found.importer not in SQL
    ]
    assert not wrong
