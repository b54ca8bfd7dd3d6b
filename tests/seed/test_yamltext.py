from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seed.yamltext import MAX_BYTES, MAX_DEPTH, MAX_NODES, Document, YamlFaultError, decode, parse

PIECES = [
    "a",
    "b: c",
    "- d",
    ": ",
    "\n",
    "\r\n",
    "  ",
    "\t",
    "{",
    "}",
    "[",
    "]",
    ",",
    "&x",
    "*x",
    "!t",
    "!!int 3",
    "|",
    ">",
    "'",
    '"',
    "? ",
    "<<: *x",
    "#",
    "%YAML 1.1",
    "---",
    "...",
    "\u2028",
    "\x85",
    "\ufeff",
    "\0",
    "\x07",
    "no",
    "10:00",
    "0012",
    "決定",
    "<<<<<<< HEAD",
    "=======",
    ">>>>>>> x",
    "\U0001f600",
    "\\ud800",
    '"\\ud83d"',
    "@",
    "`",
]


def fault(data: bytes) -> YamlFaultError:
    with pytest.raises(YamlFaultError) as caught:
        parse(data)
    assert caught.value.reason
    assert caught.value.fix
    return caught.value


def leaves(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    else:
        yield value


@settings(max_examples=400)
@given(st.one_of(st.binary(max_size=200), st.lists(st.sampled_from(PIECES), max_size=40).map("".join).map(str.encode)))
def test_any_bytes_give_a_document_of_text_or_a_fault_with_a_line(data: bytes) -> None:
    """Whatever a file holds, reading it ends in text leaves or in one YamlFaultError, never in another error."""
    line, document = 1, Document({}, {})
    try:
        document = parse(data)
    except YamlFaultError as caught:
        line = caught.line
    assert 1 <= line <= len(data.decode("utf-8", "replace").splitlines()) + 2
    assert all(isinstance(leaf, str) for leaf in leaves(document.data))
    assert set(document.lines) == set(document.data)


@given(st.dictionaries(st.text(min_size=1, max_size=8), st.text(max_size=20), max_size=6))
def test_what_yaml_writes_as_text_is_read_as_the_same_text(data: dict[str, str]) -> None:
    """Quoted scalars come back as they were, whatever characters they hold."""
    import json

    printable = {k: v for k, v in data.items() if (k + v).isprintable() and k != "<<"}
    text = "".join(
        f"{json.dumps(k, ensure_ascii=False)}: {json.dumps(v, ensure_ascii=False)}\n" for k, v in printable.items()
    )
    assert parse((text or "{}").encode()).data == printable


@pytest.mark.parametrize(
    "typed", ["no", "Yes", "on", "10:00", "0012", "1.10", "1e3", "2026-11-29", "null", "~", "0x1F", "'a'"]
)
def test_scalars_are_the_text_that_was_typed(typed: str) -> None:
    """No boolean, number, time or date is guessed."""
    assert parse(f"key: {typed}\n".encode()).data == {"key": typed.strip("'")}


def test_every_top_level_key_knows_its_line() -> None:
    """Lines are 1-based and count comments, blank lines and block scalars."""
    assert parse(b"# head\na: 1\n\nb: |\n  x\n  y\nc: {d: 2}\n").lines == {"a": 2, "b": 4, "c": 7}


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_line_ends_do_not_matter(ending: bytes) -> None:
    """A CRLF file reads as the same file with LF, block scalars included."""
    text = b"a: 1\nb: |\n  x\n  y\n"
    document = parse(text.replace(b"\n", ending))
    assert document.data == {"a": "1", "b": "x\ny\n"}
    assert document.lines == {"a": 1, "b": 2}


def test_a_byte_order_mark_is_passed_over() -> None:
    """A byte order mark is no part of the first key."""
    assert parse(b"\xef\xbb\xbfa: 1\n").data == {"a": "1"}


def test_an_alias_bomb_ends_in_a_fault() -> None:
    """Aliases that would expand beyond the bound are refused before they do."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    assert "expands to more than" in fault("\n".join(lines).encode()).reason


def test_an_alias_into_its_own_anchor_is_a_fault() -> None:
    """A structure that holds itself has no text form."""
    assert "alias" in fault(b"a: &a [*a]\n").reason


def test_a_harmless_alias_is_read() -> None:
    """An alias that stays small is a value like any other."""
    assert parse(b"a: &x [1]\nb: *x\n").data == {"a": ["1"], "b": ["1"]}


@pytest.mark.parametrize("opening", ["[", "{a: "])
def test_deep_nesting_ends_in_a_fault(opening: str) -> None:
    """A hundred thousand levels exhaust neither stack nor memory."""
    assert "nest" in fault(("a: " + opening * 100_000).encode()).reason  # libyaml may be the first to refuse
    assert "nested deeper" in fault(("a: " + opening * MAX_DEPTH).encode()).reason


def test_too_many_values_are_a_fault() -> None:
    """A flat list longer than the bound is refused."""
    assert "expands to more than" in fault(("a: [" + "x," * (MAX_NODES + 1) + "]").encode()).reason


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "stands twice"),
        ("a:\n  b: 1\n  b: 2\n", 3, "stands twice"),
        ("a: 1\nb: !!python/object:os.system x\n", 2, "tag"),
        ("a: !!int 3\n", 1, "tag"),
        ("a: &x {b: 1}\nc:\n  <<: *x\n", 3, "merge key"),
        ("a: 1\n---\nb: 2\n", 2, "second document"),
        ("? [a]\n: b\n", 1, "key is not plain text"),
        ("a: 1\n*x : 2\n", 2, "alias"),
        ("- a\n", 1, "not a mapping"),
        ("", 1, "not a mapping"),
        ("plain", 1, "not a mapping"),
        ("a: 1\nb: [\n", 3, "not valid YAML"),
        ("a: b: c\n", 1, "not valid YAML"),
        ("a: 1\n\tb: 2\n", 2, "not valid YAML"),
        ("a: 1\nb: x\0y\n", 2, "not valid YAML"),
        ("a: 1\n<<<<<<< HEAD\nb: 2\n", 2, "merge conflict"),
        ("a: |\n  x\n>>>>>>> branch\n", 3, "merge conflict"),
        ("a: 1\r\n<<<<<<< HEAD\r\nb: 2\r\n", 2, "merge conflict"),
    ],
)
def test_each_fault_names_its_line_and_reason(text: str, line: int, word: str) -> None:
    """What YAML would silently accept, or a merge left behind, is refused where it stands."""
    caught = fault(text.encode())
    assert (caught.line, word in caught.reason) == (line, True), caught


def test_conflict_markers_inside_a_sentence_are_text() -> None:
    """Only a line that begins with a marker is one."""
    assert parse(b"a: see <<<<<<< HEAD in git\n").data == {"a": "see <<<<<<< HEAD in git"}


def test_bytes_that_are_not_utf8_are_a_fault_with_their_line() -> None:
    """A file in another encoding is named with the first byte that cannot be read."""
    caught = fault(b"a: 1\nb: caf\xe9\n")
    assert (caught.line, "0xe9" in caught.reason) == (2, True)


@pytest.mark.parametrize("text", [b'a: "\\ud800"\n', b"a: \xed\xa0\x80\n", b'a: "\\udfff x"\n'])
def test_lone_surrogates_end_in_a_fault_or_in_storable_text(text: bytes) -> None:
    """Half a character never gets into a record: it could not be stored, hashed or sent."""
    with contextlib.suppress(YamlFaultError):
        for leaf in leaves(parse(text).data):
            str(leaf).encode()


def test_a_file_over_the_limit_is_refused_unread() -> None:
    """The bound is on the bytes, and a file of exactly that size is read."""
    assert "over the limit" in fault(b"a: " + b"x" * MAX_BYTES).reason
    assert len(decode(b"x" * MAX_BYTES)) == MAX_BYTES


def test_an_empty_mapping_is_a_document() -> None:
    """No keys is a mapping like any other."""
    assert parse(b"{}\n") == Document({}, {})


def test_a_fault_passes_through_a_context_manager_unchanged() -> None:
    """An exception has to let Python set its traceback, or a with-block turns it into another error."""

    @contextlib.contextmanager
    def block() -> Iterator[None]:
        yield

    with pytest.raises(YamlFaultError), block():
        parse(b"[")
