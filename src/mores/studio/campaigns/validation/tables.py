"""The figures of a validation as tables, each with the paper's own below: on the organiser's page and in the export."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from mores import formatting
from mores.culture import language_name
from mores.metaevaluation.votes import percent
from mores.report.base.grid import Grid, Row
from mores.report.base.text import Shown
from mores.stats.distributions import ShareEstimate
from mores.stats.marks import MarkAgreement
from mores.stats.missing import decide
from mores.stats.results import share_result
from mores.studio.campaigns.validation import results
from mores.types import MUCH_MISSING, Result

OURS = "This campaign"
TABLE_3: Mapping[str, tuple[str, ...]] = {
    "Culture rel.": ("87.5", "10.0", "2.5", "0.0"),
    "Error valid (strict)": ("61.2", "22.5", "11.2", "5.0"),
    "Error valid (partial)": ("93.8", "6.2", "0.0", "0.0"),
    "Expl. valid": ("78.8", "18.8", "1.2", "1.2"),
}
TABLE_12: Sequence[Row] = (
    ("Japanese", "6", "83.3", "83.3", "83.3", formatting.NOTHING),
    ("Chinese", "6", "83.3", "66.7", "50.0", formatting.NOTHING),
    ("German", "8", "100.0", "100.0", "50.0", formatting.NOTHING),
)
TABLE_13: Sequence[Row] = (
    ("Severity OK (minor)", "31", "60", "51.7"),
    ("Severity OK (major)", "38", "40", "95.0"),
    ("Type OK", "96", "100", "96.0"),
    ("Changed mind", "4", "100", "4.0"),
)
SECTION_5: Sequence[Row] = (
    ("ExCAM (Gemma)", "67", "4.01", formatting.NOTHING, formatting.NOTHING, formatting.NOTHING),
    ("ExCAM (Phi)", "60", "3.88", formatting.NOTHING, formatting.NOTHING, formatting.NOTHING),
)
"""What the paper prints."""


def all_tables(
    samples: Sequence[results.JudgedSample],
    main: str,
    agreement: Sequence[results.QuestionAgreement] = (),
    spans: MarkAgreement | None = None,
) -> dict[str, Grid]:
    """Return every table by the name of its file; `main` is the language that has the most people."""
    votes = {
        f"votes_{people}" if people != 3 else "table3": vote_table(samples, people)
        for people in results.sizes(samples) or [3]
    }
    return votes | {
        "table12": majority_table(samples, main),
        "table13": auxiliary_table(samples),
        "likeness": likeness_table(samples),
        "metrics": metrics_table(samples),
        "agreement": agreement_table(agreement, spans),
    }


def vote_table(samples: Sequence[results.JudgedSample], people: int) -> Grid:
    """Table 3: how many of a sample's people say yes, in percent of the samples."""
    rows = [
        [name, *(percent(count, sum(counts)) for count in counts)]
        for name, counts in results.count_votes(samples, people).items()
    ]
    total = sum(len(sample.answers) == people for sample in results.counted(samples))
    return Grid(
        ("Criterion", *(f"{count}/{people}" for count in range(people, -1, -1))),
        [
            (f"{OURS} (N={total:,})", rows),
            *([("ExCAM, Table 3 (N=80)", [(name, *row) for name, row in TABLE_3.items()])] if people == 3 else []),
        ],
        title=f"Votes on samples with {people} answers, in percent of the samples",
        notes=_notes(samples, "Strict: all marked words are part of an error. Partial: some may be unnecessary."),
    )


def majority_table(samples: Sequence[results.JudgedSample], main: str) -> Grid:
    """Table 12: by language, in how many samples a majority says yes; the main language comes last."""
    groups: dict[str, list[results.JudgedSample]] = defaultdict(list)
    for sample in samples:
        groups[sample.language].append(sample)
    names = ("Culture rel.", "Error valid (partial)", "Expl. valid", "Expl. valid (partial)")
    rows: list[Row] = []
    for code in sorted(groups, key=lambda code: (code == main, code)):
        title, shares = language_name(code) if code else formatting.NOTHING, results.majorities(groups[code])
        if whole := results.counted(groups[code]):
            missing = results.undecided(groups[code])
            rows.append([title, formatting.count(len(whole)), *(_share(shares[name], missing) for name in names)])
    return Grid(
        ("Language", "N", "Culture rel.", "Error valid", "Expl. valid", "Expl. valid (partial)"),
        [(OURS, rows), ("ExCAM, Table 12", TABLE_12)],
        title="Samples for which a majority says yes, in percent, by language",
        notes=_notes(samples, "Partly valid errors count as valid. Where two people answered, both must say yes."),
    )


def auxiliary_table(samples: Sequence[results.JudgedSample]) -> Grid:
    """Table 13: agreement with severity and type, and how often the explanation changed a mind."""
    rows: list[Row] = []
    for name, share in results.auxiliary(samples).items():
        severity = name.removeprefix("Severity OK (").rstrip(")")
        asked = [sample for sample in samples if sample.severity == severity or severity == name]
        yes, n = (f"{share.k:,}", f"{share.n:,}") if share else ("0", "0")
        rows.append((name, yes, n, _share(share, results.undecided(asked))))
    return Grid(
        ("Criterion", "Yes", "N", "%"),
        [(OURS, rows), ("ExCAM, Table 13", TABLE_13)],
        title="Severity, type and changed minds, by the majority of each sample's people",
        notes=_notes(samples),
    )


def likeness_table(samples: Sequence[results.JudgedSample]) -> Grid:
    """Section 5: how often metrics find an error, and how alike their explanations are to the gold ones."""
    rows: list[Row] = [
        (
            metric.metric,
            _share(metric.finding, metric.failed),
            (formatting.number(metric.mean.value), _span(metric.mean)),
            f"{metric.mean.n:,}",
            f"{metric.ratings:,}",
            f"{metric.mean.unscored:,} / {metric.failed:,}",
        )
        for metric in results.likeness(samples)
    ]
    return Grid(
        ("Metric", "Finds an error (%)", "Likeness (1–5)", "Samples", "Ratings", "Not rated / failed"),
        [(OURS, rows), ("ExCAM, Section 5", SECTION_5)],
        title="Explanations of metrics beside the gold ones, on samples whose gold explanation is valid by majority",
        notes=_notes(samples, "Likeness is the mean of the samples' mean ratings, with its 95% interval."),
    )


def metrics_table(samples: Sequence[results.JudgedSample]) -> Grid:
    """Return every two metrics on the samples that both explain."""
    rows: list[Row] = []
    withheld = ""
    for versus in results.compare_metrics(samples):
        gap = versus.difference
        difference: Shown = formatting.NOTHING
        if gap:
            interval = _span(versus.whole.model_copy(update={"low": gap.low, "high": gap.high}), signed=True)
            difference = formatting.number(gap.difference, signed=True), interval
            if versus.whole.missing > MUCH_MISSING and not decide(versus.whole):
                gap, withheld = None, "Without p: explanations that failed or were not rated could decide."
        p = formatting.p_value(gap.p_value if gap else None)
        rows.append((f"{versus.first} − {versus.second}", difference, p, f"{versus.samples:,}"))
    return Grid(
        ("Metrics", "Difference", "p", "Samples"),
        [("", rows)],
        title="Difference of the mean likeness, on samples that both explain",
        notes=("Paired permutation test, two-sided; 95% intervals over samples.", withheld),
    )


def agreement_table(agreement: Sequence[results.QuestionAgreement], spans: MarkAgreement | None = None) -> Grid:
    """Return how far people agree, question by question."""
    rows: list[Row] = [
        (
            each.name,
            (formatting.number(each.alpha.value), formatting.span(each.alpha.low, each.alpha.high)),
            formatting.percent(each.same),
            f"{each.samples:,}",
            f"{each.answers:,}",
        )
        for each in agreement
    ]
    note = (
        f"Marked words: F1 {formatting.number(spans.f1.value)} of two people's characters, Krippendorff's α "
        f"{formatting.number(spans.alpha.value)}, on {spans.texts:,} texts."
        if spans
        else ""
    )
    return Grid(
        ("Question", "Krippendorff's α", "Same answer", "Samples", "Answers"),
        [("", rows)],
        title="Agreement between people",
        notes=("Of samples with answers of at least two people. α of likeness is ordinal.", note),
    )


def _share(share: ShareEstimate | None, missing: int = 0) -> Shown:
    if share is None:
        return formatting.NOTHING
    return percent(share.k, share.n), _span(share_result("share", share.k, share.n, missing), 100.0, 1)


def _span(result: Result, times: float = 1.0, digits: int = 2, *, signed: bool = False) -> str:
    """Return the interval; where more than 2% is missing, also the one that covers it."""

    def show(low: float | None, high: float | None) -> str:
        return formatting.span(low and times * low, high and times * high, digits, signed=signed)

    interval = show(result.low, result.high)
    if result.missing <= MUCH_MISSING or result.whole is None:
        return interval
    return f"{interval}; {show(*result.whole)} with {result.unscored:,} missing"


def _notes(samples: Sequence[results.JudgedSample], *others: str) -> tuple[str, ...]:
    return (*others, describe(results.beside(samples)))


def describe(left: results.Beside) -> str:
    """Return what is not counted, in words."""
    waiting = f"{formatting.count(left.waiting, 'sample')} with too few answers and {left.untouched:,} without any"
    declined = f"; “I can't judge this”: {left.declined:,}"
    return f"Not counted: {waiting}{declined}."
