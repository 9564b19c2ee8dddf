"""What is there to open a window with: programs on PATH, applications of macOS, a screen."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

MAC = "osascript"
"""Only macOS has this program. Asking for it, rather than for the system's name, lets a test stand in for it."""


def find(name: str, env: Mapping[str, str], application: str = "") -> str:
    """The path of a program: from PATH, else from inside of a macOS application (`kitty.app/Contents/MacOS/kitty`); '': none."""
    found = shutil.which(name, path=env.get("PATH", os.defpath))
    if found or not application:
        return found or ""
    bundle = app(application, env)
    inside = f"{bundle}/Contents/MacOS/{name}"
    return inside if bundle and os.access(inside, os.X_OK) else ""


def app(name: str, env: Mapping[str, str]) -> str:
    """The folder of an application of macOS (`iTerm.app`); '' where there is none."""
    if not mac(env):
        return ""
    places = ("/Applications", f"{env.get('HOME', '')}/Applications", "/System/Applications/Utilities")
    return next((path for place in places if os.path.isdir(path := f"{place}/{name}")), "")


def mac(env: Mapping[str, str]) -> bool:
    """Are we on macOS?"""
    return bool(find(MAC, env))


def screen(env: Mapping[str, str]) -> bool:
    """Is there a screen that a window could be shown on?"""
    return bool(env.get("DISPLAY") or env.get("WAYLAND_DISPLAY")) or mac(env)
