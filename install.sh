#!/bin/sh
# Installs recall for this user: an environment of its own, a link to the command, what `recall install` adds to the
# clients, a first sweep. Plain sh, so that the shells of macOS and Debian both run it.
set -eu
umask 077
unset CDPATH PYTHONPATH PYTHONHOME VIRTUAL_ENV PIP_TARGET PIP_PREFIX
export PIP_USER=0 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_REQUIRE_VIRTUALENV=0

NAME=recall
DRY=
ACTION=install
PYTHON=
UV=
PASSED=
TOLD=

usage() {
    cat <<'END'
Usage: ./install.sh [--with-handoff] [--no-hooks] [--no-timer] [--name NAME] [--dry-run] [--uninstall] [--help]

Installs recall for you alone: the program under ~/.local/share/recall, the command in ~/.local/bin. Adds hooks,
permission rules and a skill to Claude Code and Codex, as far as they are here, and a timer. Then takes in the
transcripts that are there (nothing of theirs is changed) and shows a first result.
Running it again upgrades to this checkout. All of it is written down and taken back by --uninstall.

  --with-handoff     tell a compacted or resumed session where it stood (asked on a terminal)
  --without-handoff  do not, and do not ask
  --no-hooks         no hooks: for use as a plugin, or by timer only
  --no-timer         no timer
  --name NAME        the command's name, where `recall` is taken
  --dry-run          show every change as a diff, make none
  --uninstall        take everything back; copies of transcripts, cards and index stay
  --help             this text

Without network: PIP_NO_INDEX=1 PIP_FIND_LINKS=<folder with wheels> ./install.sh
END
}

say() { printf '%s\n' "$*"; }

fail() { # fail STATUS MESSAGE HINT
    printf 'install.sh: %s\n' "$2" >&2
    [ -z "${3:-}" ] || printf 'hint: %s\n' "$3" >&2
    exit "$1"
}

main() {
    while [ $# -gt 0 ]; do
        case $1 in
        --name)
            [ $# -gt 1 ] || fail 2 "--name needs a name" "./install.sh --name rc"
            NAME=$2
            shift
            ;;
        --name=*) NAME=${1#--name=} ;;
        --with-handoff | --without-handoff | --no-hooks | --no-timer) PASSED="$PASSED $1" ;;
        --dry-run) DRY=1 ;;
        --uninstall) ACTION=uninstall ;;
        -h | --help)
            usage
            exit 0
            ;;
        *) fail 2 "unknown option $1" "./install.sh --help" ;;
        esac
        shift
    done
    case $NAME in
    '' | -* | .* | *[!A-Za-z0-9._-]*) fail 2 "'$NAME' cannot be the name of a command" "use letters, digits, - and _" ;;
    esac
    case ${HOME:-} in
    /*) ;;
    *) fail 2 "HOME is not set to a folder" "HOME=/home/you ./install.sh" ;;
    esac
    case ${XDG_DATA_HOME:-} in
    /*) DIR=$XDG_DATA_HOME/recall ;;
    *) DIR=$HOME/.local/share/recall ;; # the standard says: a relative one is ignored
    esac
    HERE=$(cd "$(dirname "$0")" && pwd -P)
    VENV=$DIR/venv
    BIN=$HOME/.local/bin
    LINK=$BIN/$NAME
    LOG=$DIR/install.log
    if [ "$ACTION" = uninstall ]; then uninstall; else install; fi
}

install() {
    [ -f "$HERE/pyproject.toml" ] || fail 4 "$HERE is no checkout of recall" "run the install.sh inside the checkout"
    look_for_python
    refuse_foreign_link
    if [ -n "$DRY" ]; then
        say "Would make     $VENV (with ${UV:+uv, }${PYTHON:-a Python that uv fetches})"
        say "Would install  $HERE into it"
        say "Would link     $LINK"
        say "Would run      $NAME sweep --no-llm: copies transcripts to $(archive), changes none"
        say "Would run      $NAME install$PASSED:"
        # The checkout itself says what it would do, and that nothing was changed; this part of it needs no package.
        if [ -n "$PYTHON" ]; then
            say
            status=0
            # shellcheck disable=SC2086 # a list of options
            from_checkout install --dry-run --name "$NAME" $PASSED || status=$?
            [ "$status" -eq 0 ] || exit "$status"
        else
            say "Nothing was changed."
        fi
        notice_path
        return
    fi
    mkdir -p "$DIR" "$BIN" || fail 4 "cannot make $DIR and $BIN" "look at the permissions of ${HOME}/.local"
    : >"$LOG"
    say "Program   $VENV (this takes half a minute or so)"
    make_environment
    install_package
    make_link
    say "Command   $LINK"
    RESULT=0
    connect
    say
    first_sweep
    notice_path
    exit "$RESULT"
}

look_for_python() {
    # Wheels given for an offline install are named in pip's variables, which uv does not read.
    if [ -z "${PIP_NO_INDEX:-}${PIP_FIND_LINKS:-}" ] && command -v uv >/dev/null 2>&1; then UV=uv; fi
    for candidate in python3.14 python3.13 python3.12 python3.11 python3 python \
        /opt/homebrew/bin/python3 /usr/local/bin/python3; do
        if new_enough "$candidate"; then
            PYTHON=$(command -v "$candidate")
            return
        fi
    done
    if command -v uv >/dev/null 2>&1; then
        PYTHON=$(uv python find '>=3.11' 2>/dev/null) || PYTHON=
        if [ -n "$PYTHON" ] || [ -n "$UV" ]; then return; fi
    fi
    case $(uname -s) in
    Darwin) fail 4 "no Python 3.11 or newer found" "brew install python@3.13, or install uv; then run ./install.sh again" ;;
    *) fail 4 "no Python 3.11 or newer found" "apt install python3 python3-venv (or your system's way), or install uv" ;;
    esac
}

new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

ours() { # is this link one that we made?
    [ -L "$1" ] && [ "$(readlink "$1")" = "$VENV/bin/recall" ]
}

refuse_foreign_link() {
    if { [ -e "$LINK" ] || [ -L "$LINK" ]; } && ! ours "$LINK"; then
        fail 3 "$LINK exists and is not ours" "choose another name: ./install.sh --name rc"
    fi
}

make_environment() {
    if new_enough "$VENV/bin/python"; then
        if [ -n "$UV" ] || "$VENV/bin/python" -m pip --version >/dev/null 2>&1; then return; fi
    fi
    remove_environment
    if [ -n "$UV" ]; then
        $UV venv --quiet --python "${PYTHON:->=3.11}" "$VENV" >>"$LOG" 2>&1 ||
            broken "uv could not make the environment" "look at the lines above, then run ./install.sh again"
    else
        "$PYTHON" -m venv "$VENV" >>"$LOG" 2>&1 ||
            broken "$PYTHON cannot make an environment" "on Debian and Ubuntu: apt install python3-venv; then again"
    fi
}

install_package() {
    fix="is there network? Without: PIP_NO_INDEX=1 PIP_FIND_LINKS=<folder with wheels> ./install.sh"
    if [ -n "$UV" ]; then
        $UV pip install --quiet --python "$VENV/bin/python" --compile-bytecode \
            --reinstall-package recall-sessions "$HERE" >>"$LOG" 2>&1 || broken "the packages could not be installed" "$fix"
    else
        "$VENV/bin/python" -m pip install --quiet "$HERE" >>"$LOG" 2>&1 ||
            broken "the packages could not be installed" "$fix"
    fi
    # pip's launcher loads `re` to cut off a suffix that only Windows has: half of a start.
    start=$VENV/bin/recall
    sed -e '/^import re$/d' -e '/^ *sys\.argv\[0\] = re\.sub(/d' "$start" >"$start.new" && chmod 755 "$start.new" &&
        mv -f "$start.new" "$start" || broken "the program could not be written" "is the disk full?"
    "$start" version >>"$LOG" 2>&1 || broken "the installed program does not start" "rm -r '$VENV'; ./install.sh"
}

broken() { # broken MESSAGE HINT: with the end of what the failing program said
    tail -n 12 "$LOG" >&2
    fail 4 "$1 (all of it: $LOG)" "$2"
}

make_link() {
    refuse_foreign_link
    ours "$LINK" || ln -s "$VENV/bin/recall" "$LINK" || fail 4 "cannot link $LINK" "look at the permissions of $BIN"
}

from_checkout() {
    "$PYTHON" -B -I -c 'import sys; sys.path.insert(0, sys.argv.pop(1)); from recall.cli import main; main()' "$HERE" "$@"
}

connect() { # hooks, permissions, skill, timer; a file that is refused does not undo the rest
    status=0
    # shellcheck disable=SC2086 # a list of options
    "$LINK" install --name "$NAME" $PASSED || status=$?
    if [ "$status" -ne 0 ]; then
        say "The program is installed; what it adds to the clients is not complete. Then again: $NAME install$PASSED"
        RESULT=$status
    fi
}

first_sweep() {
    if ! have_transcripts; then
        say "No transcripts of Claude Code or Codex here yet. This is what it will look like:"
        say
        "$LINK" demo || crashed $?
        return
    fi
    status=0
    "$LINK" sweep --no-llm || status=$?
    if [ "$status" -eq 130 ]; then
        say
        say "Interrupted, nothing is lost. Go on at any time: $NAME sweep"
        exit 130
    fi
    if [ "$status" -ne 0 ]; then
        say "The first sweep met problems (status $status). Once more: $NAME sweep; what is wrong: $NAME verify"
        crashed "$status"
    fi
    words=$(words_of_newest) || words=
    say
    if [ -n "$words" ]; then
        say "\$ $NAME find -n 3 $words"
        # shellcheck disable=SC2086 # two words
        "$LINK" find -n 3 $words || true
    else
        say "\$ $NAME find -n 3"
        "$LINK" find -n 3 || true
    fi
    say
    say "Next:"
    say "  $NAME                            pick a session while you type"
    say "  $NAME find WORDS…                what you remember of a session, in any language"
    say "  $NAME open ID                    reopen it in a new window, in its folder"
    say "  $NAME doctor                     is everything in order?"
    say "  $NAME $(printf '%-27s' "completion $(shell_name) --write")Tab completes commands and sessions"
    if [ -d "$HOME/Library/Application Support/iTerm2" ]; then
        say "  $NAME iterm-install              to read and type into open sessions in iTerm2"
    fi
    say "  $NAME uninstall                  takes back what was added to the clients"
}

shell_name() { # of the user, as `completion` takes it
    case ${SHELL:-} in
    */fish) printf 'fish' ;;
    */zsh) printf 'zsh' ;;
    *) printf 'bash' ;;
    esac
}

crashed() { # what is wrong with somebody's files (up to 5) does not make the install a failure
    [ "$1" -le 5 ] || RESULT=$1
}

have_transcripts() {
    for folder in "${CLAUDE_CONFIG_DIR:-$HOME/.claude}/projects" "${CODEX_HOME:-$HOME/.codex}/sessions" \
        "${CODEX_HOME:-$HOME/.codex}/archived_sessions" "$(archive)"; do
        [ -d "$folder" ] || continue
        found=$(find "$folder/" \( -name '*.jsonl' -o -name '*.jsonl.zst' \) 2>/dev/null | head -n 1)
        [ -z "$found" ] || return 0
    done
    return 1
}

words_of_newest() { # two telling words of the newest session: something to search for
    "$LINK" find -n 1 --json 2>/dev/null | "$VENV/bin/python" -I -c '
import json, re, sys
row = json.load(sys.stdin)["results"][0]
words = re.findall(r"[^\W\d_]{4,}", row.get("task") or row.get("title") or "")
longest = sorted(dict.fromkeys(words), key=len, reverse=True)[:2]
sys.stdout.buffer.write(" ".join(word for word in words if word in longest).encode())
' 2>/dev/null
}

archive() { printf '%s' "${RECALL_ARCHIVE:-$HOME/backups/claude-transcripts}"; }

notice_path() {
    earlier=
    on_path=
    old_ifs=$IFS
    IFS=:
    set -f
    for folder in $PATH; do
        if [ "$folder" = "$BIN" ] || [ "$folder" = "$BIN/" ]; then
            on_path=1
            break
        fi
        if [ -z "$earlier" ] && [ -x "$folder/$NAME" ] && [ ! -d "$folder/$NAME" ] && ! ours "$folder/$NAME"; then
            earlier=$folder/$NAME
        fi
    done
    set +f
    IFS=$old_ifs
    if [ -n "$earlier" ]; then
        say
        say "Another \`$NAME\` comes first on your PATH: $earlier"
        say "Use another name for this one: ./install.sh --name rc"
    fi
    if [ -z "$on_path" ]; then
        say
        say "$BIN is not on your PATH. Add this line to your shell's start file, then open a new shell:"
        case ${SHELL:-} in
        */fish) say "  fish_add_path ~/.local/bin        # ~/.config/fish/config.fish" ;;
        */zsh) say "  export PATH=\"\$HOME/.local/bin:\$PATH\"        # ~/.zshrc" ;;
        *) say "  export PATH=\"\$HOME/.local/bin:\$PATH\"        # ~/.bashrc or ~/.profile" ;;
        esac
    fi
}

remove_environment() { # only what is an environment
    if [ -f "$VENV/pyvenv.cfg" ]; then
        rm -rf "$VENV"
    elif [ -e "$VENV" ]; then
        fail 3 "$VENV exists and is no Python environment" "move it away, then run ./install.sh again"
    fi
}

uninstall() {
    disconnect
    would=${DRY:+Would remove}
    gone=
    for link in "$BIN"/* "$BIN"/.[!.]*; do
        if ours "$link"; then
            say "${would:-Removed}  $link"
            gone=1
            [ -n "$DRY" ] || rm -f "$link"
            remove_completion "${link##*/}"
        fi
    done
    if [ -e "$VENV" ]; then
        say "${would:-Removed}  $VENV"
        gone=1
        if [ -z "$DRY" ]; then
            remove_environment
            rm -f "$LOG"
            rmdir "$DIR" 2>/dev/null || true
        fi
    fi
    [ -n "$gone" ] || say "recall is not installed here."
    [ -z "$TOLD" ] || return 0
    say "Kept: copies of transcripts in $(archive)"
    say "      cards in ${RECALL_DATA:-$HOME/.claude/session-recaps}, index in ${RECALL_STATE:-$HOME/.claude/recall}"
}

remove_completion() { # what `NAME completion SHELL --write` wrote: it would call a command that is gone
    for file in "$HOME/.local/share/bash-completion/completions/$1" "$HOME/.local/share/zsh/site-functions/_$1" \
        "$HOME/.config/fish/completions/$1.fish"; do
        if [ -f "$file" ] && head -n 2 "$file" | grep -q "^# Completion of $1 for .*Made by"; then
            say "${would:-Removed}  $file"
            [ -n "$DRY" ] || rm -f "$file"
        fi
    done
}

disconnect() { # first, while the program is there: it has the journal of what was added to the clients
    [ -e "$VENV/bin/recall" ] || return 0
    status=0
    "$VENV/bin/recall" uninstall ${DRY:+--dry-run} || status=$?
    case $status in
    0) TOLD=1 ;;
    130) exit 130 ;;
    [1-5])
        [ -n "$DRY" ] ||
            fail "$status" "the program stays until that is mended" "mend it, then run ./install.sh --uninstall again"
        ;;
    *)
        say "The installed program does not start, so what it added to the clients stays: its hooks do nothing any more."
        say "To take that back too: ./install.sh, then ./install.sh --uninstall"
        ;;
    esac
}

main "$@"
