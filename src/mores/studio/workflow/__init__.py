"""The rules of every campaign, without any I/O: the actions allowed on an item, and what follows.

    events = act(flow, item, person, Cast(answer), now)      # or Refused, with the reason
    for event in events: item = apply(item, event)

A `Flow` is a campaign's stages (`stages.py`). An action (`actions.py`) that is allowed (`rules.py`) gives events
(`act.py`): its own, and those that follow (the item moves on, goes back, a model is asked). The store writes them and
the item that they lead to (`apply`) in one transaction.
"""

from mores.studio.workflow.act import UNDO, act, apply
from mores.studio.workflow.actions import (
    Action,
    Adjudicate,
    Answered,
    AskAgain,
    AskModel,
    Cast,
    Create,
    Recheck,
    Reconsider,
    Release,
    Revise,
    Step,
    Submit,
    Take,
    Withdraw,
)
from mores.studio.workflow.rules import EVERYBODY, count_missing, count_taken, find_step, is_judged, may, writes_items
from mores.studio.workflow.stages import CampaignStage, Flow, ModelQuestion, Refused, StageDecision, Unknown

__all__ = [
    "EVERYBODY",
    "UNDO",
    "Action",
    "Adjudicate",
    "Answered",
    "AskAgain",
    "AskModel",
    "CampaignStage",
    "Cast",
    "Create",
    "Flow",
    "ModelQuestion",
    "Recheck",
    "Reconsider",
    "Refused",
    "Release",
    "Revise",
    "StageDecision",
    "Step",
    "Submit",
    "Take",
    "Unknown",
    "Withdraw",
    "act",
    "apply",
    "count_missing",
    "count_taken",
    "find_step",
    "is_judged",
    "may",
    "writes_items",
]
