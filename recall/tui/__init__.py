"""The picker: sessions found as you type, on the whole screen of a terminal.

The only part of recall that imports textual. `app` is what a person sees and presses; `search` looks into the index in
a thread of its own; `rows`, `card` and `talk` turn values into lines, and `lines` is the one widget that draws them.
"""
