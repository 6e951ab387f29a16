"""Practice items and the qualification test: one item after the other, then all answers with their explanations."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from mores.studio.form import FormError, read_form
from mores.studio.practice import QualificationTest, make_practice_item, practised_stage
from mores.studio.records import Content
from mores.studio.store.people import change_member
from mores.studio.timeline import list_values
from mores.studio.web.visit import Form, Place, Posted, Working, limited

router = APIRouter(prefix="/c/{campaign}/practice")


@router.get("")
def practise(place: Working) -> Response:
    """Show the next practice item, or the result."""
    test = _test(place)
    if test.following is not None:
        return _page(place, test, test.following, {})
    stage = practised_stage(place.campaign.flow, place.person)
    items = [make_practice_item(place.campaign, stage, test, number) for number in range(test.asked)]
    forms = [stage.form(item) for item in items]
    return place.page(
        "practised.html",
        test=test,
        stage=stage,
        items=items,
        given=[list_values(form, test.done[number]) for number, form in enumerate(forms)],
        known=[list_values(form, practice.answer) for form, practice in zip(forms, test.items, strict=True)],
        step=max(form.steps for form in forms),
    )


@router.post("", dependencies=[limited("write")])
def answer(place: Working, form: Form) -> Response:
    """Answer a practice item."""
    test, number = _test(place), int(form.number("number", -1))
    if not 0 <= number < test.asked:
        raise HTTPException(404)
    stage = practised_stage(place.campaign.flow, place.person)
    try:
        given = read_form(stage.form(make_practice_item(place.campaign, stage, test, number)), form.values)
    except FormError as error:
        return _page(place, test, number, error.problems, form)
    test = test.answer(number, given)
    kept = {"test": test.kept(), "qualified": test.qualifies}
    change_member(place.database, place.campaign, place.person.id, **kept)
    return place.go("/practice")


def _test(place: Place) -> QualificationTest:
    test = QualificationTest.read(place.campaign.settings, place.member.test)
    if not test.asked:
        raise HTTPException(404)
    return test


def _page(
    place: Place, test: QualificationTest, number: int, problems: Content, form: Posted | None = None
) -> Response:
    stage = practised_stage(place.campaign.flow, place.person)
    item = make_practice_item(place.campaign, stage, test, number)
    fields = stage.form(item)
    return place.page(
        "practice.html",
        code=422 if problems else 200,
        test=test,
        number=number,
        item=item,
        stage=stage,
        form=fields,
        step=fields.steps,
        values=form.lists if form else fields.values,
        problems=problems,
    )
