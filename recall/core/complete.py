r"""Completion scripts for bash, zsh and fish, made from a table of commands.

What never changes (commands, options, choices) stands in the script, so that most Tab presses start no process. What does
(ids, projects, tags) is asked for: `recall completion --candidates KIND WORD` prints lines of `value<TAB>what it is`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

ASKED = ("id", "address", "project", "tag", "word", "branch")
"""Kinds that recall is asked for."""


class Flag(NamedTuple):
    """An option: its names, what it is for, and of what kind its value is ('' for none, 'choice' with `choices`, 'file',
    'text' for what cannot be completed, or one of ASKED)."""

    names: tuple[str, ...]
    help: str
    kind: str = ""
    choices: tuple[str, ...] = ()


class Verb(NamedTuple):
    """A command: its other names, what it does, the kind of its arguments (as of an option), its options."""

    name: str
    aliases: tuple[str, ...]
    help: str
    kind: str
    choices: tuple[str, ...]
    flags: tuple[Flag, ...]


def script(shell: str, name: str, verbs: Sequence[Verb]) -> str:
    """The script for `shell` (bash, zsh, fish), for a program called `name`."""
    return "\n".join({"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](name, verbs)) + "\n"


def _function(name: str) -> str:
    return "_" + "".join(char if char.isalnum() else "_" for char in name)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _source(name: str, kind: str, choices: Sequence[str]) -> str:
    """The shell command that completes a value of this kind; the functions that it names are in each script."""
    if kind == "choice":
        return f"__recall_words {' '.join(map(_quoted, choices))}"
    if kind == "file":
        return "__recall_files"
    return f"__recall_ask {kind}" if kind in ASKED else ":"


def _cases(name: str, verbs: Sequence[Verb], describe: bool) -> Iterator[str]:
    """The part that bash and zsh share: which function completes the word, by the command and the word before."""
    yield '  case "$cmd" in'
    yield "    '')"
    pairs = [f"{verb.name}\t{verb.help}" if describe else verb.name for verb in verbs]
    yield f"      __recall_words {' '.join(map(_quoted, pairs))} ;;"
    for verb in verbs:
        yield f"    {'|'.join((verb.name, *verb.aliases))})"
        yield '      case "$prev" in'
        for flag in verb.flags:
            if flag.kind:
                yield f"        {'|'.join(flag.names)}) {_source(name, flag.kind, flag.choices)}; return ;;"
        yield "      esac"
        yield '      case "$cur" in'
        names = [
            f"{one}\t{flag.help}" if describe else one for flag in verb.flags for one in flag.names if one[:2] == "--"
        ]
        yield f"        -*) __recall_words {' '.join(map(_quoted, [*names, '--help']))} ;;"
        yield f"        *) {_source(name, verb.kind, verb.choices)} ;;"
        yield "      esac ;;"
    yield "  esac"


def _bash(name: str, verbs: Sequence[Verb]) -> Iterator[str]:
    program = _quoted(name)
    yield f"""\
# Completion of {name} for bash. Made by `{name} completion bash`.
__recall_words() {{
  local one
  for one in "$@"; do
    case "$one" in "$cur"*) COMPREPLY+=("$one") ;; esac
  done
}}
__recall_files() {{
  local one
  while IFS= read -r one; do COMPREPLY+=("$one"); done < <(compgen -f -- "$cur")
  compopt -o filenames 2>/dev/null
}}
__recall_ask() {{
  local one
  while IFS= read -r one; do COMPREPLY+=("$one"); done < <({program} completion --candidates "$1" "$cur" 2>/dev/null)
  local n=0
  case "${{#COMPREPLY[@]}}/$COMP_TYPE" in
    1/*)
      COMPREPLY=("${{COMPREPLY[0]%%$'\\t'*}}")
      case "${{COMPREPLY[0]}}" in *:) compopt -o nospace 2>/dev/null ;; esac ;;
    */33|*/63|*/64)  # they are listed
      for one in "${{COMPREPLY[@]}}"; do
        case "$one" in *$'\\t'?*) COMPREPLY[n]="${{one/$'\\t'/  (}})" ;; *) COMPREPLY[n]="${{one%%$'\\t'*}}" ;; esac
        n=$((n + 1))
      done ;;
    *)  # one of them, or all, may be put into the line (menu-complete, insert-completions): nothing of a title
      for one in "${{COMPREPLY[@]}}"; do
        COMPREPLY[n]="${{one%%$'\\t'*}}"
        n=$((n + 1))
      done ;;
  esac
}}
{_function(name)}() {{
  local line="${{COMP_LINE:0:COMP_POINT}}" cur prev cmd="" word n
  local -a words
  COMPREPLY=()
  read -r -a words <<<"$line"
  case "$line" in *[[:space:]]) words+=("") ;; esac
  n="${{#words[@]}}"
  cur="${{words[n-1]}}"
  prev="${{words[n-2]}}"
  for word in "${{words[@]:1:n-2}}"; do
    case "$word" in -*) ;; *) cmd="$word"; break ;; esac
  done"""
    yield from _cases(name, verbs, False)
    yield f"""\
  case "$cur" in
    *:*)  # bash takes what stands before a colon for a word of its own
      case "$COMP_WORDBREAKS" in
        *:*)
          local before="${{cur%"${{cur##*:}}"}}"
          for n in "${{!COMPREPLY[@]}}"; do COMPREPLY[n]="${{COMPREPLY[n]#"$before"}}"; done ;;
      esac ;;
  esac
}}
complete -o nosort -F {_function(name)} {program} 2>/dev/null || complete -F {_function(name)} {program}"""


def _zsh(name: str, verbs: Sequence[Verb]) -> Iterator[str]:
    program = _quoted(name)
    yield f"""\
#compdef {name}
# Completion of {name} for zsh. Made by `{name} completion zsh`.
__recall_words() {{
  local one
  local -a values shown
  for one in "$@"; do
    values+=("${{one%%$'\\t'*}}")
    case "$one" in *$'\\t'?*) shown+=("${{one/$'\\t'/  -- }}") ;; *) shown+=("${{one%%$'\\t'*}}") ;; esac
  done
  [ "${{#values}}" -gt 0 ] && compadd -V recall -l -d shown -- "${{values[@]}}"
}}
__recall_files() {{ _files; }}
__recall_ask() {{
  local -a found
  found=("${{(@f)$({program} completion --candidates "$1" "$cur" 2>/dev/null)}}")
  [ -n "${{found[1]}}" ] || return
  case "$1${{found[1]%%$'\\t'*}}" in
    word*:) local -a values; values=("${{(@)found%%$'\\t'*}}"); compadd -V recall -S '' -- "${{values[@]}}" ;;
    *) __recall_words "${{found[@]}}" ;;
  esac
}}
{_function(name)}() {{
  local cur="${{words[CURRENT]}}" prev="${{words[CURRENT-1]}}" cmd="" word
  for word in "${{words[@]:1:$((CURRENT - 2))}}"; do
    case "$word" in -*) ;; *) cmd="$word"; break ;; esac
  done"""
    yield from _cases(name, verbs, True)
    yield f"""\
}}
if [ "$funcstack[1]" = {_quoted(_function(name))} ]; then
  {_function(name)} "$@"
else
  compdef {_function(name)} {program}
fi"""


def _fish(name: str, verbs: Sequence[Verb]) -> Iterator[str]:
    program = _fish_quoted(name)
    yield f"# Completion of {name} for fish. Made by `{name} completion fish`."
    yield f"function __recall_ask\n    {program} completion --candidates $argv[1] (commandline -ct) 2>/dev/null\nend"
    yield f"complete -c {program} -f"
    for verb in verbs:
        yield f"complete -c {program} -n __fish_use_subcommand -a {verb.name} -d {_fish_quoted(verb.help)}"
    for verb in verbs:
        seen = f'-n "__fish_seen_subcommand_from {" ".join((verb.name, *verb.aliases))}"'
        yield f"complete -c {program} {seen} -l help -d 'Show help.'"
        if verb.kind == "file":
            yield f"complete -c {program} {seen} -F"
        elif verb.kind == "choice":
            yield f"complete -c {program} {seen} -a {_fish_quoted(' '.join(verb.choices))}"
        elif verb.kind in ASKED:
            yield f"complete -c {program} {seen} -k -a '(__recall_ask {verb.kind})'"
        for flag in verb.flags:
            names = " ".join(f"-l {one[2:]}" if one.startswith("--") else f"-s {one[1:]}" for one in flag.names)
            value = {"": "", "file": " -r -F", "text": " -x"}.get(flag.kind)
            if value is None:
                given = " ".join(flag.choices) if flag.kind == "choice" else f"(__recall_ask {flag.kind})"
                value = f" -x -a {_fish_quoted(given)}"
            yield f"complete -c {program} {seen} {names}{value} -d {_fish_quoted(flag.help)}"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
