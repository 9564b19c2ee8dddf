#!/bin/sh
# Install the pinned real clients with npm, for the tests that are marked `client`.
#
#   install_clients.sh DIR [claude|codex|both]
#
# npm's own configuration decides where packages come from. Each client takes about 400 MB. The versions can be set by
# CLAUDE_CODE_VERSION and CODEX_VERSION. What is in DIR already, in that version, is left as it is.
set -eu
: "${CLAUDE_CODE_VERSION:=2.1.332}" "${CODEX_VERSION:=0.171.0}"
[ $# -ge 1 ] || { echo "usage: $0 DIR [claude|codex|both]" >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
case "${2:-claude}" in
    claude) set -- "@anthropic-ai/claude-code@$CLAUDE_CODE_VERSION" ;;
    codex) set -- "@openai/codex@$CODEX_VERSION" ;;
    both) set -- "@anthropic-ai/claude-code@$CLAUDE_CODE_VERSION" "@openai/codex@$CODEX_VERSION" ;;
    *) echo "usage: $0 DIR [claude|codex|both]" >&2; exit 2 ;;
esac
cd "$dir"
runs() { # does the program start, with a home of its own?
    env -i PATH="$PATH" HOME="$dir/.home" DISABLE_AUTOUPDATER=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 \
        "$1" --version >/dev/null 2>&1
}
mkdir -p .home
[ -f package.json ] || printf '{"name":"clients","private":true,"version":"0.0.0"}\n' >package.json
missing=
for package; do
    name=${package%@*}
    have=$(sed -n 's/^  "version": "\(.*\)",*$/\1/p' "node_modules/$name/package.json" 2>/dev/null | head -n 1)
    [ "$name@$have" = "$package" ] || missing=1
done
[ -z "$missing" ] || npm install --no-audit --no-fund --fetch-retries 1 --save-exact "$@" >&2

# npm may hold back install scripts; claude's only puts the native program over a placeholder.
stub=node_modules/@anthropic-ai/claude-code/bin/claude.exe
if [ -f "$stub" ] && ! runs "./$stub"; then
    for native in node_modules/@anthropic-ai/claude-code-*/claude; do
        [ -f "$native" ] && { ln -f "$native" "$stub" 2>/dev/null || cp -f "$native" "$stub"; }
        break
    done
fi
for name in claude codex; do
    program=node_modules/.bin/$name
    [ ! -e "$program" ] || runs "./$program" || { echo "$name was installed but does not run" >&2; exit 1; }
done
echo "$dir"
