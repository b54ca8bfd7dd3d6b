from __future__ import annotations

from pathlib import Path

import pytest

from evals.questions import QuestionSetError, load_questions, parse_questions, questions_schema

GOOD = b"""# a set
- id: q-1
  question: Where?
  question_zh: \xe5\x93\xaa\xe9\x87\x8c\xef\xbc\x9f
  expected: [a]
  statuses: all
  note: kept
- id: q-2
  question: \xe4\xbd\x95\xe8\x99\x95\xef\xbc\x9f
  expected: []
  unanswerable: near_topic
"""


def faults(text: str) -> list[str]:
    with pytest.raises(QuestionSetError) as raised:
        parse_questions(text.encode(), "set.yaml")
    return raised.value.lines


def test_good_set() -> None:
    """Wordings are kept by language, unknown keys are kept, classes follow from the labels."""
    first, second = parse_questions(GOOD).questions
    assert (first.texts, first.language) == ({"en": "Where?", "zh": "哪里？"}, "en")
    assert (first.statuses, first.extra, first.classes) == (("all",), {"note": "kept"}, ("answerable",))
    assert (second.language, second.classes, second.line) == ("zh", ("unanswerable", "near_topic"), 8)


def test_every_problem_at_once() -> None:
    """Each problem of a file is one line with file, line, question and what to do."""
    found = faults(
        "- id: a\n  question: x\n- id: b\n  question: y\n  expected: [r]\n  unanswerable: off_topic\n- plain\n"
        "- id: c\n  question: z\n  expected: []\n  statuses: [acepted]\n- id: d\n  question: w\n  expected: []\n"
        "- id: d\n  question: w\n  expected: []\n- id: e\n  question: w\n  expected: [r]\n  forbid: [R]\n"
    )
    assert [line.split(": ")[0] for line in found] == [f"set.yaml:{n}" for n in (1, 3, 7, 11, 15, 18)]
    assert "question a: expected is missing - write []" in found[0]
    assert "acepted" in found[3]
    assert "stands in line 12 too" in found[4]
    assert all("\n" not in line and " - " in line for line in found)


@pytest.mark.parametrize(
    ("text", "line"),
    [("id: a\n", 1), ("- id: a\n  id: b\n", 2), ("- id: a\n  question: [\n", 3), ("just text\n", 1)],
)
def test_what_is_no_list(text: str, line: int) -> None:
    """What is no list of mappings, or no YAML, is one line that names the place."""
    assert faults(text)[0].startswith(f"set.yaml:{line}: ")


def test_empty() -> None:
    """A file with comments alone is an empty set, not an error."""
    assert parse_questions(b"# nothing yet\n").questions == ()


@pytest.mark.parametrize("text", ["[]\n", "# nothing yet\n", ""])
def test_a_set_without_a_question_measures_nothing(tmp_path: Path, text: str) -> None:
    """A run on no question would pass every gate, so loading such a file is an error."""
    file = tmp_path / "questions.yaml"
    file.write_text(text)
    with pytest.raises(QuestionSetError, match="the set has no question"):
        load_questions(file)


def test_digest_is_of_the_bytes() -> None:
    """A comment changes the digest: it names the file that was read, not what was understood."""
    assert parse_questions(GOOD).digest != parse_questions(GOOD + b"# x\n").digest


def test_schema_names_every_key() -> None:
    """The schema for editors describes the keys that the parser reads."""
    assert {"id", "question", "question_zh", "expected", "kind", "unanswerable", "forbid", "above", "statuses"} <= set(
        questions_schema()["items"]["properties"]
    )
