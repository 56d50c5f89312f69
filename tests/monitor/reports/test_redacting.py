"""What reports give away of a message holds nothing that is redacted."""

from __future__ import annotations

import json

import pytest
from pytest_django import Settings as DjangoSettings

from monitor import conf
from monitor.domain.redaction import Redaction
from monitor.reports import corrections, effects, json_diff, messages, mismatches, payloads
from tests import factories, factory_effects, factory_figures, factory_order

STANDARD = Redaction().policy("s", "c")
PLACES = Redaction(pointers=("/account",)).policy("s", "c")
SECRET = "s3cr3t-0123456789"  # noqa: S105 - of these tests
JSON = "application/json"


def _view(
    body: str, policy: object = STANDARD, *, content_type: str = JSON
) -> payloads.PayloadView:
    encoded = body.encode()
    return payloads.view(encoded, content_type, len(encoded), policy)  # type: ignore[arg-type]


def test_a_payload_shows_kind_and_length_of_what_is_redacted() -> None:
    found = _view(f'{{"n": 1.10, "password": "{SECRET}", "card": {{"number": 4111}}}}')
    assert found.text == (
        "{\n"
        '  "n": 1.10,\n'
        f'  "password": [redacted: text, {len(SECRET)} characters],\n'
        '  "card": {\n'
        '    "number": [redacted: number, 4 characters]\n'
        "  }\n"
        "}"
    )
    assert found.redacted == 2
    assert found.tree is not None
    assert (found.tree.children[1].kind, found.tree.children[1].name) == ("redacted", "password")


def test_the_first_64_kb_of_a_long_payload_are_redacted_too() -> None:
    body = json.dumps({"password": SECRET, "filling": ["x" * 100] * 700, "token": SECRET})
    found = _view(body)
    assert (found.truncated, found.kind) == (True, "text")
    assert SECRET not in found.text
    assert found.tree is not None
    assert [each.name for each in found.tree.children] == ["password", "filling"]
    assert found.tree.children[0].kind == "redacted"
    assert 600 < len(found.tree.children[1].children) < 700
    found = _view(json.dumps({"filling": "x" * 65_500, "password": SECRET * 10}))
    assert SECRET[:5] not in found.text


def test_json_whose_indentation_is_too_much_falls_back_to_redacted_text() -> None:
    found = _view("[" * 99 + f'{{"token":"{SECRET}"}},' + ",".join("1" * 20_000) + "]" * 99)
    assert found.tree is not None
    assert SECRET not in found.text


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (f"password={SECRET}&a=1", "application/x-www-form-urlencoded"),
        (f'{{"a": 1, "password": "{SECRET}"', JSON),
        (f'{{"a": 1}}\n{{"password": "{SECRET}"}}', "application/x-ndjson"),
        (f'{{"body": "{{\\"token\\": \\"{SECRET}\\"}}"}}', JSON),
    ],
)
def test_other_text_is_masked_by_names(body: str, content_type: str) -> None:
    found = _view(body, content_type=content_type)
    assert SECRET not in found.text
    assert found.redacted


@pytest.mark.parametrize("body", ["account: x", '{"account": "x"', '{"a": NaN}', "\0\1"])
def test_where_places_are_named_a_body_without_places_is_withheld(body: str) -> None:
    assert _view('{"account": "x"}', PLACES).kind == "json"
    found = _view(body, PLACES)
    assert (found.kind, found.text, found.tree, bool(found.redacted)) == (
        "withheld",
        "",
        None,
        True,
    )


def test_two_redacted_values_are_seen_to_differ_and_are_not_shown() -> None:
    first = f'{{"token": "{SECRET}", "card": {{"number": 4111}}, "pwd": 1.0, "x": "pin: 1"}}'
    second = f'{{"token": "{SECRET[::-1]}", "card": {{"number": 4111}}, "pwd": 1, "x": "pin: 1"}}'
    found = json_diff.compare(first.encode(), second.encode(), STANDARD)
    (row,) = found.rows
    assert (row.path, row.kind, found.equal) == ("token", "changed", 3)
    assert row.first == row.second == f"[redacted: text, {len(SECRET)} characters]"


def test_text_that_is_no_json_differs_line_by_line_without_its_secrets() -> None:
    found = json_diff.compare(b"a=1\npassword=abcd\nb", b"a=1\npassword=efgh\nb", STANDARD)
    (row,) = found.rows
    assert (found.how, row.path, found.equal) == ("text", "line 2", 2)
    assert (row.first, row.second) == ("password=[redacted]",) * 2
    assert json_diff.compare(b"a", b"b", PLACES).how == "withheld"


@pytest.mark.django_db
def test_everything_about_a_message_is_redacted_but_in_the_table() -> None:
    owner = factories.consumer()
    body = {"password": SECRET, "amount": 1}
    number = factories.message(
        owner,
        state="dead",
        payload=body,
        error=f"ValueError: bad login {SECRET}",
        cause="poison: ValueError",
        headers={"authorization": SECRET, "user-agent": f"x/{SECRET}"},
    )
    factory_figures.event(number, kind="failed", attempt=1, detail={"error": f"no {SECRET}"})
    effect = factory_effects.effect(
        number, request=body | {"copy": SECRET}, error=f"402 {SECRET}", result={"echo": [SECRET]}
    )
    factory_effects.evidence(
        effect, detail={"token": "t-1234", "answer": {"pin": SECRET, "n": 1.5}}
    )
    factory_order.revision(number, json.dumps(body | {"password": SECRET + "x"}))
    mismatch = factories.mismatch(number, payload=body | {"password": "other-secret"})
    detail = messages.detail(number)
    shown = [
        detail,
        payloads.of_message(number),
        corrections.of_message(number, is_revealed=True),
        corrections.current(number),
        effects.detail(effect),
        mismatches.detail(mismatch),
        mismatches.comparison(mismatch),
    ]
    for each in shown:
        at = repr(each).find(SECRET)
        assert at < 0, repr(each)[max(at - 200, 0) : at + 40]
        assert "other-secret" not in repr(each)
        assert "t-1234" not in repr(each)
    assert detail is not None
    assert detail.is_redacted
    assert dict(detail.headers)["authorization"].startswith("[redacted: text")
    found = effects.detail(effect)
    assert found is not None
    assert found.is_redacted
    assert ("answer", '{"n": 1.5, "pin": "[redacted]"}') in found.evidence[-1].detail


@pytest.mark.django_db
def test_rules_of_the_source_and_of_the_consumer_reach_their_messages(
    settings: DjangoSettings,
) -> None:
    owner = factories.consumer(name="shop.apply")
    number = factories.message(owner, payload={"iban": "DE12", "vat": "X1"})
    settings.COMBOIO = {"redaction": {"consumers": {"shop.apply": {"names": ["iban"]}}}}
    assert conf.get().redaction.consumers
    view = payloads.of_message(number)
    assert view is not None
    assert "DE12" not in view.text
    assert "X1" in view.text
    settings.COMBOIO = {"redaction": {"consumers": {"other.apply": {"names": ["iban"]}}}}
    view = payloads.of_message(number)
    assert view is not None
    assert "DE12" in view.text
