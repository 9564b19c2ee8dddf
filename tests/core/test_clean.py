"""Text as it may be kept or shown."""

from __future__ import annotations

import random

import pytest

from recall.core.clean import clean
from recall.core.plain import one_line
from tests.core.test_redact import TOKENS

UNSEEN = ["\x1b[31m", "\x9b1m", "\x07", "\x00", "\x9d", "\u061c", "\u200e", "\u202e", "\u2066"]


@pytest.mark.parametrize("unseen", UNSEEN, ids=ascii)
@pytest.mark.parametrize("kind", ["github", "anthropic", "slack", "aws"])
def test_what_is_not_seen_does_not_hide_a_secret(kind: str, unseen: str) -> None:
    """It would be whole again once that is stripped for a terminal."""
    secret = TOKENS[kind](random.Random(1))
    for at in (2, len(secret) // 2, len(secret) - 2):
        shown = one_line(clean(f"use {secret[:at]}{unseen}{secret[at:]} here"))
        assert secret not in shown and "[redacted:" in shown


@pytest.mark.parametrize("unseen", ["\u200b", "\u2060", "\ufeff", "\u00ad"])
def test_what_is_never_seen_hides_no_secret(unseen: str) -> None:
    key = "AKIA" + "Q3EXAMPLEKEY" + "7ZXW"
    assert "EXAMPLE" not in clean(f"use {key[:9]}{unseen}{key[9:]} now")


def test_joiners_that_letters_need_stay() -> None:
    assert clean("می\u200cخواهم 👩\u200d💻") == "می\u200cخواهم 👩\u200d💻"
