"""What every client must do, whatever its transcripts look like: each client's own file joins this suite."""

from __future__ import annotations

import copy
import fnmatch
import json
import os
import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recall.core.facts import Facts
from recall.core.model import (
    ACTION,
    ASIDE,
    ASSISTANT,
    EVERYTHING,
    OUTPUT,
    PRINTED,
    SPOKEN,
    THINKING,
    USER,
    Line,
    Record,
)

CORPUS = Path(__file__).resolve().parent.parent / "corpus"
TRANSCRIPTS = {
    "claude": ("projects/-home-dev-crm/{}.jsonl",),
    "codex": (
        "sessions/2026/06/11/rollout-2026-06-11T09-00-00-{}.jsonl",
        "sessions/2026/06/11/rollout-2026-06-11T09-00-00-{}.jsonl.zst",
        "archived_sessions/rollout-2026-06-11T09-00-00-{}.jsonl",
    ),
}
"""Where a session's transcript lies under the client's home, the usual place first."""
WANTS = (SPOKEN, PRINTED, EVERYTHING, frozenset((USER,)), frozenset((OUTPUT,)), frozenset((THINKING,)))
ODD_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


def lines(data: bytes) -> list[Line]:
    """The lines of a transcript with their offsets, as a reader hands them to a client."""
    found = []
    at = 0
    for raw in data.split(b"\n"):
        if raw:
            found.append(Line(at, raw))
        at += len(raw) + 1
    return found


def facts_of(facts: Facts) -> dict[str, Any]:
    return {name: getattr(facts, name) for name in Facts.__slots__}


def through_json(facts: Facts) -> Facts:
    """As between two sweeps: the uuids are kept apart, the rest as JSON."""
    again = Facts.from_dict(json.loads(json.dumps(facts.to_dict())))
    again.uuids = list(facts.uuids)
    return again


class ClientTests:
    """Joined by a subclass that sets `client` and that names odd things in `corpus/<client>/*.jsonl`."""

    client: ModuleType

    @property
    def samples(self) -> dict[str, bytes]:
        return {path.stem: path.read_bytes() for path in sorted((CORPUS / self.client.name).glob("*.jsonl"))}

    def read(self, data: bytes, want: frozenset[int] = EVERYTHING, **how: bool) -> tuple[list[Record], Facts]:
        facts = Facts()
        return list(self.client.parse(lines(data), facts, want, **how)), facts

    def texts(self, sample: str, zone: int) -> list[str]:
        return [record.text for record in self.read(self.samples[sample])[0] if record.zone == zone]

    def facts(self, sample: str) -> Facts:
        return self.read(self.samples[sample])[1]

    def folders(self) -> Iterator[tuple[str, bytes]]:
        """The samples, and what RECALL_TEST_CORPUS holds: a home with real transcripts, where there is one."""
        yield from self.samples.items()
        home = os.environ.get("RECALL_TEST_CORPUS", "")
        for folder in self.client.folders if home else ():
            for path in sorted(Path(home, f".{self.client.name}", folder).rglob("*.jsonl")):
                yield str(path), path.read_bytes()

    # The look at a line's bytes

    def test_a_line_is_passed_over_only_where_nothing_is_lost(self) -> None:
        """With and without the look at a line's bytes the records and the facts are the same."""
        for name, data in self.folders():
            for want in WANTS:
                records, facts = self.read(data, want)
                slowly, slow_facts = self.read(data, want, hints=False)
                assert records == slowly, (name, sorted(want))
                assert facts_of(facts) == facts_of(slow_facts), (name, sorted(want))

    def test_glued_lines_lose_nothing(self) -> None:
        """Any two lines of a sample without a line end between them give what they give apart."""
        for name, data in self.samples.items():
            whole = [line.raw for line in lines(data) if line.raw.endswith(b"}") and _whole(line.raw)]
            for first, second in pairwise(whole):
                for want in (SPOKEN, PRINTED):
                    apart, facts = self.read(first + b"\n" + second, want)
                    glued, glued_facts = self.read(first + second, want)
                    assert [record._replace(at=0) for record in apart] == [r._replace(at=0) for r in glued], name
                    assert facts_of(facts) == facts_of(glued_facts), name

    # Going on

    def test_two_portions_give_what_one_gives(self) -> None:
        """Cut at any line border, the state kept as JSON meanwhile: the same records and the same facts."""
        for name, data in self.samples.items():
            every = lines(data)
            for want in (SPOKEN, EVERYTHING):
                once, facts = self.read(data, want)
                for cut in range(len(every) + 1):
                    state = Facts()
                    records = list(self.client.parse(every[:cut], state, want))
                    state = through_json(state)
                    records += list(self.client.parse(every[cut:], state, want))
                    assert records == once, (name, cut)
                    assert facts_of(state) == facts_of(facts), (name, cut)

    def test_two_passes_give_what_one_gives(self) -> None:
        """What is spoken first and what was printed later is together everything, each record once."""
        for name, data in self.folders():
            once, facts = self.read(data)
            state = Facts()
            records = list(self.client.parse(lines(data), state, SPOKEN))
            records += self.client.parse(lines(data), state, PRINTED)
            assert sorted(records) == sorted(once), name
            assert facts_of(state) == facts_of(facts), name

    def test_a_second_pass_leaves_the_facts(self) -> None:
        for name, data in self.samples.items():
            facts = self.read(data, SPOKEN)[1]
            before = copy.deepcopy(facts_of(facts))
            assert all(record.zone in PRINTED for record in self.client.parse(lines(data), facts, PRINTED)), name
            after = facts_of(facts)
            for own in ("tools", "printed", "thought"):
                before.pop(own), after.pop(own)
            assert after == before, name

    # What is a record

    def test_only_the_wanted_zones_come(self) -> None:
        for name, data in self.samples.items():
            for want in WANTS:
                assert {record.zone for record in self.read(data, want)[0]} <= want, name

    def test_words_of_the_harness_are_no_records(self) -> None:
        """The samples say HARNESS in all that is not content, BESIDE in what nobody typed or answered."""
        for name, data in self.samples.items():
            for record in self.read(data)[0]:
                assert "HARNESS" not in record.text, name
                if record.zone in (USER, ASSISTANT):
                    assert "BESIDE" not in record.text, name

    def test_records_point_at_their_lines_in_order(self) -> None:
        for name, data in self.samples.items():
            starts = {line.at for line in lines(data)}
            offsets = [record.at for record in self.read(data)[0]]
            assert offsets == sorted(offsets) and set(offsets) <= starts, name

    def test_an_action_has_a_tool_and_a_short_text(self) -> None:
        for name, data in self.samples.items():
            for record in self.read(data)[0]:
                if record.zone == ACTION:
                    assert record.tool and record.text.startswith(record.tool) and len(record.text) < 3000, name
                elif record.zone in (USER, ASSISTANT):
                    assert record.tool == "", name
                elif record.zone == ASIDE:
                    assert record.tool in ("", "summary"), name

    def test_no_text_is_empty_and_none_has_lone_surrogates(self) -> None:
        for name, data in self.samples.items():
            for record in self.read(data)[0]:
                assert record.text, name
                record.text.encode("utf-8")

    def test_crlf_is_a_line_end(self) -> None:
        plain, facts = self.read(self.samples["crlf"].replace(b"\r\n", b"\n"))
        odd, odd_facts = self.read(self.samples["crlf"])
        assert [record._replace(at=0) for record in odd] == [record._replace(at=0) for record in plain]
        assert facts_of(odd_facts) == facts_of(facts)

    # Anything may be in a file

    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    @given(data=st.binary(max_size=300) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
    def test_no_bytes_break_the_parser(self, data: bytes) -> None:
        for want in (SPOKEN, PRINTED, EVERYTHING):
            self.read(data, want)

    @settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
    @given(seed=st.integers(0, 2**32), junk=st.binary(max_size=6))
    def test_no_damage_to_a_line_breaks_the_parser(self, seed: int, junk: bytes) -> None:
        """A real line with bytes taken out, put in or overwritten; with and without hints it reads the same."""
        chance = random.Random(seed)
        sample = chance.choice([data for data in self.samples.values() if data])
        at = chance.randrange(len(sample))
        data = sample[:at] + junk + sample[at + chance.choice((0, 0, 1, len(junk), 40)) :]
        for want in (SPOKEN, PRINTED, EVERYTHING):
            records, facts = self.read(data, want)
            json.dumps(facts.to_dict())
            assert records == self.read(data, want, hints=False)[0]

    @settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
    @given(seed=st.integers(0, 2**32), odd=ODD_JSON)
    def test_no_value_in_any_field_breaks_the_parser(self, seed: int, odd: Any) -> None:
        chance = random.Random(seed)
        sample = chance.choice([data for name, data in self.samples.items() if data and name != "deep-nesting"])
        objects = [json.loads(line.raw) for line in lines(sample) if _whole(line.raw)]
        objects = [item for item in objects if isinstance(item, dict) and item]
        if not objects:
            return
        holder: Any = chance.choice(objects)
        while True:
            key = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
            inner = holder[key]
            if not (isinstance(inner, (dict, list)) and inner) or chance.random() < 0.3:
                break
            holder = inner
        holder[key] = odd
        data = b"\n".join(json.dumps(item, ensure_ascii=True).encode() for item in objects)
        for want in (SPOKEN, PRINTED, EVERYTHING):
            records, facts = self.read(data, want)
            json.dumps(facts.to_dict())
            for record in records:
                assert isinstance(record.text, str) and isinstance(record.tool, str) and record.text

    def test_a_line_of_twelve_megabytes_hides_no_neighbour(self) -> None:
        name = next(name for name, data in self.samples.items() if self.read(data)[1].users >= 2)
        first, *rest = lines(self.samples[name])
        big = b'{"type":"future","x":"' + b"x" * 12_000_000 + b'"}'
        records = self.read(b"\n".join([first.raw, big, *(line.raw for line in rest)]))[0]
        assert [record.text for record in records] == [record.text for record in self.read(self.samples[name])[0]]

    def test_an_unknown_type_is_counted_once_each_time(self) -> None:
        facts = self.read(b'{"type":"never-heard-of","x":1}\n' * 3)[1]
        assert facts.unknown == {"never-heard-of": 3} and facts.events == 0

    def test_lines_that_hold_no_object_are_counted(self) -> None:
        facts = self.read(b'null\n3\n[]\n"x"\n{}\nwords\n')[1]
        assert facts.skipped == {"not an object": 5, "not JSON": 1}

    # Places and commands

    @pytest.mark.parametrize(
        "path",
        ["", "/", "x", "../x.jsonl", "settings.json", "projects", "sessions", "projects/..//x", "sessions/../x.jsonl"],
    )
    def test_what_is_not_a_transcript_has_no_place(self, path: str) -> None:
        assert self.client.place(path) is None

    @settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
    @given(parts=st.lists(st.sampled_from(["projects", "sessions", "subagents", "..", "", "a.jsonl"]) | st.text()))
    def test_no_copy_leaves_the_folder_of_its_client(self, parts: list[str]) -> None:
        place = self.client.place("/".join(parts))
        if place is not None:
            pieces = place.archive.split("/")
            assert pieces[0] == self.client.name and not {"", ".", ".."} & set(pieces)

    def test_the_command_that_reopens_names_the_session_and_ends_with_the_flags(self) -> None:
        plan = self.client.resume("the-id", "/home/dev/a b", ("--flag", "x y"))
        assert plan.argv[0] == self.client.name and "the-id" in plan.argv
        assert plan.argv[-2:] == ("--flag", "x y") and plan.cwd == "/home/dev/a b"
        asked = self.client.resume("the-id", "/home/dev/a b", ("--flag", "x y"), "-do it")
        assert asked.argv == (*plan.argv, "--", "-do it")

    def test_a_transcript_of_a_session_is_looked_for_where_the_client_keeps_it(self) -> None:
        """And its place is told by that of its copy."""
        session = "019e10aa-1111-7aaa-8bbb-0123456789ab"
        paths = [path.format(session) for path in TRANSCRIPTS[self.client.name]]
        for path in paths:
            assert any(fnmatch.fnmatchcase(path, pattern) for pattern in self.client.transcripts(session)), path
            place = self.client.place(path)
            assert place is not None and place.session == session
        kept = self.client.place(paths[0]).archive
        assert self.client.original(kept.removeprefix(f"{self.client.name}/")) == paths[0]


def _whole(raw: bytes) -> bool:
    try:
        json.loads(raw)
    except (ValueError, RecursionError):
        return False
    return True
