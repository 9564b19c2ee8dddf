"""A line to type in, in which keys take effect in the order in which they are pressed."""

from __future__ import annotations

from textual import events
from textual.binding import Binding
from textual.widgets import Input

_EDITING = {
    key: binding.action
    for binding in Input.BINDINGS
    if isinstance(binding, Binding) and binding.action not in ("submit", "copy", "cut")
    for key in binding.key.split(",")
}


class Typed(Input):
    """An `Input` whose editing keys are no bindings: those come back from the application when letters that were pressed
    after them stand in the line already."""

    async def _on_key(self, event: events.Key) -> None:
        action = _EDITING.get(event.key)
        if action is not None:
            event.stop()
            event.prevent_default()
            await self.run_action(action)
