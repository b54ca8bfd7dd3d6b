from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seed import secrets

# Made up, and put together here so that no scanner takes this file for a leak.
RANDOM = "a8Zk3Qw9Xr2Lm5Tn7Yp1Vb4Hc6Jd0Fg8Se2Ui9Ko3Pl"
SAMPLES = {
    "aws-access-key": "AKIA" + "Z2X3C4V5B6N7M2QW",
    "github-token": "ghp" + "_" + RANDOM[:36],
    "github-fine-grained-token": "github" + "_pat_" + RANDOM + "_" + RANDOM[:20],
    "gitlab-token": "glpat" + "-" + RANDOM[:20],
    "slack-token": "xox" + "b-123456789012-" + RANDOM[:24],
    "slack-webhook": "hooks." + "slack.com/services/T0/B0/" + RANDOM[:24],
    "anthropic-key": "sk" + "-ant-api03-" + RANDOM,
    "openai-key": "sk" + "-proj-" + RANDOM,
    "google-api-key": "AIza" + RANDOM[:35],
    "stripe-key": "sk" + "_live_" + RANDOM[:24],
    "npm-token": "npm" + "_" + RANDOM[:36],
    "pypi-token": "pypi" + "-" + RANDOM + RANDOM,
    "hugging-face-token": "hf" + "_" + RANDOM[:34],
    "sendgrid-key": "SG." + RANDOM[:22] + "." + RANDOM[:43],
    "private-key": "-----BEGIN RSA PRIVATE KEY-----\\nMIIEow" + RANDOM + "\\n-----END RSA PRIVATE KEY-----",
    "json-web-token": "eyJ" + RANDOM[:20] + ".eyJ" + RANDOM[:30] + "." + RANDOM[:20],
    "password-in-url": RANDOM[:12],
    "assigned-secret": RANDOM[:20],
}
AROUND = {
    "password-in-url": ("postgres://app:", "@db/x"),
    "assigned-secret": ('{\\"db_password\\": \\"', '\\"}'),
}


@pytest.mark.parametrize("rule", sorted(SAMPLES))
def test_each_rule_finds_its_secret(rule: str) -> None:
    """Each well-known form is found at exactly its bytes, inside the quotes of a JSON line."""
    before, after = AROUND.get(rule, (' "', '" '))
    data = ("{" + before + SAMPLES[rule] + after + "}").encode()
    found = secrets.find(data)
    assert [(one.rule, data[one.start : one.end].decode()) for one in found] == [(rule, SAMPLES[rule])]


@pytest.mark.parametrize(
    "text",
    [
        "password = your_password_here1",
        "api_key: process.env.API_KEY_12",
        "token=xxxxxxxxxxxx12",
        "task-force-one-and-all",
        '"input_tokens": 28992312345678',
        "secret: os.environ[A1]",
        "the password is not here",
        "secret = aaaaaaaaaaaa11",
        "token: /usr/lib/python3/dist",
        "https://example.org:8080/a@b",
        "risk-" + RANDOM,
        "password: getPassword(user1)",
    ],
)
def test_words_and_placeholders_are_no_secrets(text: str) -> None:
    """Counters, variables, paths, placeholders and words that contain a key's beginning are left alone."""
    assert secrets.find(text.encode()) == []


def test_a_finding_has_no_value() -> None:
    """What is reported holds the rule and the place, nothing of the secret."""
    found = secrets.find(f"x {SAMPLES['github-token']} y".encode())
    assert RANDOM[:6] not in repr(found)


@given(st.binary(max_size=300))
def test_blanking_keeps_every_offset(data: bytes) -> None:
    """A blanked copy has the same length, and the same bytes outside the findings."""
    found = secrets.find(data)
    blanked = secrets.blank(data, found)
    assert len(blanked) == len(data)
    assert secrets.blank(blanked, found) == blanked


def test_entropy_is_shannons() -> None:
    """Sixteen different bytes carry four bits each, one repeated byte none."""
    assert math.isclose(secrets.entropy(bytes(range(16))), 4.0)
    assert secrets.entropy(b"aaaa") == 0
