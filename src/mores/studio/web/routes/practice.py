"""Practice items and the qualification test: one item after the other, then all answers with their explanations."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from mores.studio.form import FormError, read_form
from mores.studio.practice import QualificationTest
from mores.studio.records import CampaignItem, Content
from mores.studio.store.items import now
from mores.studio.store.people import set_test
from mores.studio.timeline import list_values
from mores.studio.web.visit import Form, Place, Posted, Working, limited
from mores.studio.workflow import CampaignStage, is_judged

router = APIRouter(prefix="/c/{campaign}/practice")


@router.get("")
def practise(place: Working) -> Response:
    """The next practice item, or the result."""
    test = QualificationTest.read(place.campaign.settings, place.member.test)
    if not test.asked:
        raise HTTPException(404)
    if test.following is None:
        items = [_item(place, test, number) for number in range(test.asked)]
        forms = [_stage(place).form(item) for item in items]
        given = [list_values(form, test.done[number]) for number, form in enumerate(forms)]
        known = [list_values(form, practice.answer) for form, practice in zip(forms, test.items, strict=True)]
        shown: dict[str, Any] = {
            "items": items,
            "given": given,
            "known": known,
            "step": max(form.steps for form in forms),
        }
        return place.page("practised.html", test=test, stage=_stage(place), **shown)
    return _page(place, test, test.following, {})


@router.post("", dependencies=[limited("write")])
def answer(place: Working, form: Form) -> Response:
    """Answer a practice item."""
    test = QualificationTest.read(place.campaign.settings, place.member.test)
    number = int(form.number("number", -1))
    if not 0 <= number < test.asked:
        raise HTTPException(404)
    item = _item(place, test, number)
    try:
        given = read_form(_stage(place).form(item), form.values)
    except FormError as error:
        return _page(place, test, number, error.problems, form)
    test = test.answer(number, given)
    qualified = test.passed if test.needed else True
    set_test(place.visit.database, place.campaign, place.person.id, test.kept(), qualified)
    return place.go("/practice")


def _stage(place: Place) -> CampaignStage:
    """Return the stage whose form is practised: the first at which people judge, their own where they have one."""
    stages = [stage for stage in place.campaign.flow.stages if is_judged(stage)]
    mine = [stage for stage in stages if stage.role in place.person.roles]
    if not stages:
        raise HTTPException(404)
    return (mine or stages)[0]


def _item(place: Place, test: QualificationTest, number: int) -> CampaignItem:
    practice = test.items[number]
    return CampaignItem(
        id=f"practice-{number}",
        campaign=place.campaign.id,
        author=None,
        content=practice.content,
        stage=_stage(place).name,
        region=practice.region,
        language=practice.language,
        created=now(),
        updated=now(),
    )


def _page(
    place: Place, test: QualificationTest, number: int, problems: Content, form: Posted | None = None
) -> Response:
    item = _item(place, test, number)
    stage = _stage(place)
    fields = stage.form(item)
    values = form.lists if form else fields.values
    shown: dict[str, Any] = {"item": item, "stage": stage, "form": fields, "step": fields.steps, "values": values}
    code = 422 if problems else 200
    return place.page("practice.html", code=code, test=test, number=number, problems=problems, **shown)
