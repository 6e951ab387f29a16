"""Forms: options in each person's own order, and answers that do not depend on it."""

from __future__ import annotations

from mores.studio.form import FormField, StudioForm, read_form, shuffle

FORM = StudioForm((FormField("answer", "Which?", "choices", options=[(x, x) for x in "ABCD-"], shuffled=4),))


def test_each_person_sees_an_order_of_their_own_and_the_last_options_stay_last() -> None:
    orders = {"".join(value for value, _ in shuffle(FORM, str(seed)).fields[0].options) for seed in range(400)}
    assert len(orders) == 24, "every order of four occurs"
    assert all(order.endswith("-") for order in orders)
    assert shuffle(FORM, "1") == shuffle(FORM, "1")


def test_answers_are_in_the_order_of_the_form_however_they_are_sent() -> None:
    assert read_form(FORM, {"answer": ["C", "A", "C"]}) == {"answer": ["A", "C"]}
