from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar import jsonc

ENTRY = {"command": "sidecar", "args": ["serve"]}
PATH = ("mcpServers", "sidecar")
LAYOUTS = [
    "",
    "{}",
    "{\n}\n",
    '{"a": 1}',
    '{"a": 1,}',
    '{\n  "a": 1 // mine\n}\n',
    '{\n  "a": "x//y /* no comment */", /* one */ // two\n  // three\n}\n',
    '{\n\t"mcpServers": {\n\t\t"other": {"command": "x"}\n\t},\n}\n',
    '{"mcpServers": {}}',
    '{\n    "mcpServers": {\n    },\n    "z": [1, 2,]\n}',
    '{\r\n  "a": 1,\r\n  // last\r\n}',
    '\ufeff// first\n{ "a": [], "mcpServers": { } }',
    "// nothing",
    "/* nothing */",
    "\ufeff",
    "// nothing\r\n// more",
]


@pytest.mark.parametrize("text", LAYOUTS)
def test_an_entry_goes_in_and_out_byte_for_byte(text: str) -> None:
    """Whatever the layout, the entry is added, everything else stays in its order, and taking it back restores it."""
    before = jsonc.parse(text).value
    insertions = jsonc.insert(text, PATH, ENTRY)
    after = jsonc.applied(text, insertions)
    value = jsonc.parse(after).value
    assert value["mcpServers"].pop("sidecar") == ENTRY
    assert value == {**before, "mcpServers": before.get("mcpServers", {})}
    assert [key for key in value if key in before] == list(before)
    assert jsonc.taken_back(after, insertions) == text
    for comment in ("// mine", "/* one */ // two", "// three", "// last", "\ufeff// first"):
        assert (comment in text) == (comment in after)


@pytest.mark.parametrize("text", LAYOUTS)
def test_an_entry_is_cut_by_its_form(text: str) -> None:
    """Where places have moved, the entry is cut by its name, and the rest still reads the same."""
    after = "\n" + jsonc.applied(text, jsonc.insert(text, PATH, ENTRY))
    before = jsonc.parse(text).value
    left = jsonc.parse(jsonc.cut(after, PATH)).value
    assert left == {**before, "mcpServers": before.get("mcpServers", {})}
    assert jsonc.cut(text, PATH) == text


COMMENTS = st.sampled_from(["", " ", "\n", "// c\n", " // c\r\n  ", "/* c */", "/* c\n */ "])


@given(st.lists(COMMENTS, min_size=9, max_size=9), st.booleans(), st.sampled_from("abx"))
def test_a_cut_leaves_no_comment_open(gaps: list[str], comma: bool, name: str) -> None:
    """Wherever comments and line ends stand, the text without a member reads as it did, without that member."""
    g = gaps
    text = f'{g[0]}{{{g[1]}"a"{g[2]}:{g[3]}1{g[4]},{g[5]}"b": 2{g[6]}{"," if comma else ""}{g[7]}}}{g[8]}'
    left = {key: one for key, one in {"a": 1, "b": 2}.items() if key != name}
    assert jsonc.parse(jsonc.cut(text, [name])).value == left
    after = jsonc.applied(text, jsonc.insert(text, PATH, ENTRY))
    assert jsonc.parse(after).value == {"a": 1, "b": 2, "mcpServers": {"sidecar": ENTRY}}


def test_the_layout_is_followed() -> None:
    """Tabs, two or four spaces and one line are kept as they are used around the entry."""
    tabs = '{\n\t"mcpServers": {\n\t\t"o": {}\n\t}\n}\n'
    assert '\n\t\t"sidecar": {\n\t\t\t"command"' in jsonc.applied(tabs, jsonc.insert(tabs, PATH, ENTRY))
    line = '{"mcpServers": {"o": {}}}'
    assert "\n" not in jsonc.applied(line, jsonc.insert(line, PATH, ENTRY))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{ no json", "line 1"),
        ('{\n  "a": 1\n  "b": 2\n}', "line 3: a comma"),
        ('{"a": 1} x', "nothing may follow"),
        ('{"a": ', "ends too early"),
        ('{"a": 1, "a": 2}', "there twice"),
        ('{"a": "\x01"}', "line 1"),
        ("[" * 100_000, "too deeply"),
        ('{"a": 1 /* open', "line 1"),
    ],
)
def test_what_cannot_be_read_names_its_line(text: str, reason: str) -> None:
    """A text that is no JSON is refused with a line and a reason, and no other exception comes out."""
    with pytest.raises(ValueError, match=reason):
        jsonc.parse(text)


@pytest.mark.parametrize("text", ["[]", '{"mcpServers": []}', '{"mcpServers": {"sidecar": 1}}'])
def test_there_is_room_or_it_is_refused(text: str) -> None:
    """Nothing is put into what is no object, and nothing is overwritten."""
    with pytest.raises(ValueError, match=r"is no object|there already"):
        jsonc.insert(text, PATH, ENTRY)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda v: st.lists(v) | st.dictionaries(st.text(), v)
)


@given(st.dictionaries(st.text(), VALUES), st.sampled_from([None, 1, 4, "\t"]))
def test_any_json_object_takes_an_entry(data: dict[str, Any], indent: int | str | None) -> None:
    """For any object in any indentation an entry can be put in, and cut out again."""
    text = json.dumps(data, indent=indent)
    assert jsonc.parse(text).value == data
    if PATH[0] in data:
        return
    insertions = jsonc.insert(text, PATH, ENTRY)
    after = jsonc.applied(text, insertions)
    assert json.loads(after) == {**data, "mcpServers": {"sidecar": ENTRY}}
    assert jsonc.taken_back(after, insertions) == text
    assert jsonc.parse(jsonc.cut(after, PATH[:1])).value == data


@given(st.text(alphabet='{}[]",:/*\\ \nab1-.e', max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text brings out anything but a value or a `ValueError`."""
    try:
        jsonc.parse(text)
    except ValueError as exc:
        assert str(exc)  # noqa: PT017 - either way is right
