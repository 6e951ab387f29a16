"""The two makers of soft errors against each other, where both made one: rules, and a model behind Table 7's prompt.

    python benchmarks/makers.py --data DIR --model openai:NAME [--items 200] [--sources candle,calmqa]

DIR holds one folder per source, as for `mores build`. Of each maker it is said for how many of the same items it makes
an error, how much of a text it changes, and how well a bag of words tells its texts from the right ones (scaled
accuracy, cross-validated by item, with the standard error): the lower, the less an error gives itself away. Answers of
the model are kept in the store, so that a second run asks nothing.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable
from contextlib import aclosing
from pathlib import Path
from statistics import fmean

from mores.cli.progress import Terminal
from mores.engine import Asker, open_asker
from mores.engine.loop import run
from mores.factory import sources
from mores.factory.drafts import drafts, draw, word
from mores.factory.errors.model import SoftErrorSettings, make
from mores.factory.errors.rules import Pool, changes
from mores.factory.gold import Gold
from mores.factory.items import SourceItem
from mores.factory.shortcut import audit, see
from mores.factory.split import FOLDS
from mores.factory.wrap import Wrapper
from mores.language.units import units


def items(data: Path, names: Iterable[str], count: int) -> list[SourceItem]:
    """A number of items of each source without wrong answers, drawn by their ids."""
    chosen: list[SourceItem] = []
    for name in names:
        loaded = sources.load(name, sources.folder_of(name, data), lambda _: None)
        plain = [item for item in loaded if not item.wrong]
        chosen += sorted(plain, key=lambda item: draw(0, item.id))[:count]
    return chosen


def by_rules(chosen: list[SourceItem]) -> list[Gold]:
    """All errors that rules make of the items."""
    pool, wrapper = Pool(chosen), Wrapper()
    every = (draft for item in chosen for draft in drafts(item, lambda item: changes(item, pool, 0)))
    return [word(draft, wrapper) for draft in every if not draft.correct]


async def by_model(correct: list[Gold], asker: Asker, tokens: int) -> list[Gold]:
    """All errors that a model makes of the correct pairs; failures are counted on the way."""
    softened: list[Gold] = []
    failed: Counter[str] = Counter()
    async with (
        asker.progress.stage("soft errors", 2 * len(correct), asker.price) as counts,
        aclosing(make(correct, asker, SoftErrorSettings(max_tokens=tokens), counts)) as results,
    ):
        async for _, result in results:
            if isinstance(result, Gold):
                softened.append(result)
            else:
                failed["not cultural" if result is None else str(result.kind)] += 1
    print("tries of the model that made nothing:", ", ".join(f"{n} {why}" for why, n in failed.items()) or "none")
    return softened


def describe(name: str, golds: list[Gold], correct: dict[str, Gold]) -> str:
    """One row of the table, over the items in `correct`."""
    paired = [gold for gold in golds if gold.item in correct]
    spans = fmean(len(gold.report.errors) for gold in paired)
    changed = fmean(_changed(gold) for gold in paired)
    major = fmean(gold.report.errors[0].severity == "major" for gold in paired)
    texts = [*(gold.sample.text for gold in correct.values()), *(gold.sample.text for gold in paired)]
    labels = [True] * len(correct) + [False] * len(paired)
    folds = [draw(0, gold.item)[0] % FOLDS for gold in (*correct.values(), *paired)]
    shortcut = audit(see(texts, labels, folds))
    gain = f"{shortcut.value:>6.3f} ± {shortcut.error:.3f}"
    return f"{name:<8} {len(paired):>7} {spans:>7.2f} {changed:>9.1%} {major:>7.0%}   {gain}"


def _changed(gold: Gold) -> float:
    """The share of the words of the text, or of the instruction, that are marked as wrong."""
    shares = []
    for side in ("instruction", "text"):
        words = units(gold.sample.side(side))
        spans = [(error.start or 0, error.end or 0) for error in gold.report.errors if error.side == side]
        marked = sum(any(start < unit.end and unit.start < end for start, end in spans) for unit in words)
        shares.append(marked / max(1, len(words)))
    return max(shares)


def main() -> None:
    """Make errors both ways and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--base-url")
    parser.add_argument("--sources", default="candle,calmqa")
    parser.add_argument("--items", type=int, default=200, help="of each source")
    parser.add_argument("--max-tokens", type=int, default=16_384)
    options = parser.parse_args()
    chosen = items(options.data, options.sources.split(","), options.items)
    wrapper = Wrapper()
    correct = {gold.item: gold for item in chosen for gold in (word(draft, wrapper) for draft in drafts(item))}
    rules = by_rules(chosen)
    asker = open_asker(options.model, base_url=options.base_url, progress=Terminal())
    written = run(by_model(list(correct.values()), asker, options.max_tokens))
    by_maker = {"rules": rules, "model": written}
    of = {name: {gold.item for gold in golds} for name, golds in by_maker.items()}
    both = of["rules"] & of["model"]
    counted = ", ".join(f"by {name} {len(golds)}" for name, golds in of.items())
    print(f"{len(correct)} items; with an error {counted}, by both {len(both)}")
    if not both:
        return
    print(f"{'maker':<8} {'errors':>7} {'spans':>7} {'words':>9} {'major':>7}   told by words alone")
    shared = {item: correct[item] for item in correct if item in both}
    for name, golds in by_maker.items():
        print(describe(name, golds, shared))


if __name__ == "__main__":
    main()
