"""The errors of JuICE that a judge finds: by span, by sentence, and by what kind of error it is.

A marked span finds an error if its intersection over union with the span of one of the error's detectors reaches the
threshold; each finds, and is found, at most once. A sentence is wrong if an error overlaps it. Counts are added up over
answers; in the intervals, answers to the same request depend on each other.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mores.language.sentences import sentences
from mores.metaevaluation.juice.data import CATEGORIES, THICK, THIN, TYPES, JuiceAnswer, JuiceData, MarkedError
from mores.metaevaluation.juice.records import THRESHOLD, JudgeKind, Juice, JuiceScore
from mores.stats.classification import Floats
from mores.stats.ratio import Ratio
from mores.stats.resampling import group_codes
from mores.stats.results import ratio_between
from mores.stats.spans import Span, SpanCounts, match_errors, tokens
from mores.types import Judgement, Result, Signature

BASELINE = "every sentence"
"""The baseline: it marks every sentence as an error."""

EVERYBODY = "all people"
"""The people who marked errors in the file, as one judge."""


@dataclass
class JudgedAnswer:
    """The marks of a judge in one answer."""

    answer: JuiceAnswer
    """With the errors that it should find."""
    spans: list[Span]
    unlocated: int = 0
    in_request: int = 0


@dataclass
class _Tally:
    """The outcome of one answer."""

    marked: JudgedAnswer
    errors: list[MarkedError]
    """Those that can be found."""
    matched: set[int]
    """Which of them were."""
    overlapping: int
    """How many are found by any overlap."""
    sentences: SpanCounts = field(default_factory=SpanCounts)

    @property
    def predicted(self) -> int:
        return len(self.marked.spans) + self.marked.unlocated


Lost = Sequence[tuple[_Tally, _Tally]]
"""What would have become of each missing answer, at worst and at best."""
Rows = Sequence[tuple[_Tally, float, float]]
"""What counts above, and below, of each answer or error."""
SHARE = Ratio((1, 0), (1, 1))


def score_judge(
    judge: str,
    kind: JudgeKind,
    marked: Sequence[JudgedAnswer],
    *,
    threshold: float = THRESHOLD,
    failures: Mapping[str, int] | None = None,
    missing: Sequence[JuiceAnswer] = (),
    signature: Signature | None = None,
) -> JuiceScore:
    """Return every figure of one judge, from what it marked in each answer that it judged; it failed on the missing."""
    tallies = [_tally(each, threshold) for each in marked]
    lost = [(_tally(_worst(answer), threshold), _tally(_best(answer), threshold)) for answer in missing]
    return JuiceScore(
        judge=judge,
        kind=kind,
        answers=len(marked),
        unscored=len(missing),
        failures=dict(failures or {}),
        predicted=sum(tally.predicted for tally in tallies),
        unlocated=sum(each.unlocated for each in marked),
        in_request=sum(each.in_request for each in marked),
        errors=sum(len(tally.errors) for tally in tallies),
        scores={result.name: result for result in _overall(tallies, lost)},
        recall=_recall(tallies, lost),
        by=_by_group(tallies, lost),
        signature=signature or Signature(),
    )


def _worst(answer: JuiceAnswer) -> JudgedAnswer:
    """Return a judge that marks every sentence without an error, and no other."""
    gold = [span for error in answer.errors for span in error.spans]
    places = [Span(*place) for place in sentences(answer.sample.text)]
    wrong = (place for place in places if not any(place.start < span.end and span.start < place.end for span in gold))
    return JudgedAnswer(answer, list(wrong))


def _best(answer: JuiceAnswer) -> JudgedAnswer:
    """Return a judge that marks just the errors, each as one of its detectors did."""
    return JudgedAnswer(answer, [error.spans[0] for error in answer.errors if error.spans])


def marked_by(answer: JuiceAnswer, judgement: Judgement) -> JudgedAnswer:
    """Return what a metric marked in an answer; an error of the request is none of the answer."""
    errors = judgement.report.errors if judgement.report else ()
    in_text = [error for error in errors if error.side == "text"]
    spans = [Span(e.start, e.end) for e in in_text if e.start is not None and e.end is not None]
    return JudgedAnswer(answer, spans, len(in_text) - len(spans), len(errors) - len(in_text))


def score_detectors(data: JuiceData, threshold: float = THRESHOLD) -> Iterator[JuiceScore]:
    """Yield each detector against what the others marked in the answers that it judged; people also together."""
    people: list[JudgedAnswer] = []
    for detector, kind in data.detectors.items():
        marked = []
        for answer in data.judged_by(detector):
            annotations = [a for error in answer.errors for a in error.annotations if a.detector == detector]
            others = tuple(error.without(detector) for error in answer.errors if error.detectors - {detector})
            spans = [span for annotation in annotations if (span := annotation.span)]
            without = answer.model_copy(update={"errors": others})
            marked.append(JudgedAnswer(without, spans, len(annotations) - len(spans)))
        people += marked if kind == "human" else []
        yield score_judge(detector, kind, marked, threshold=threshold)
    if people:
        yield score_judge(EVERYBODY, "human", people, threshold=threshold)


def score_baseline(answers: Iterable[JuiceAnswer], threshold: float = THRESHOLD) -> JuiceScore:
    """Return a judge that marks every sentence: what needs no judgement."""
    marked = [JudgedAnswer(answer, [Span(*place) for place in sentences(answer.sample.text)]) for answer in answers]
    return score_judge(BASELINE, "baseline", marked, threshold=threshold)


def describe_data(data: JuiceData, judges: Sequence[JuiceScore], threshold: float, notes: Sequence[str] = ()) -> Juice:
    """Return the figures of the judges with those of the data."""
    errors = [error for answer in data.answers for error in answer.errors]
    counts = Counter(category for error in errors for category in error.categories)
    return Juice(
        data=data.path.name,
        revision=data.revision,
        threshold=threshold,
        answers=len(data.answers),
        sentences=sum(len(sentences(answer.sample.text)) for answer in data.answers),
        annotations=sum(1 for _ in data.annotations),
        errors=len(errors),
        categories={name: counts[name] for name in CATEGORIES if counts[name]},
        unlocated=sum(annotation.span is None for annotation in data.annotations),
        lost=sum(not error.spans for error in errors),
        elsewhere=sum(annotation.elsewhere for annotation in data.annotations),
        judges=tuple(judges),
        notes=tuple(notes),
    )


def _tally(marked: JudgedAnswer, threshold: float) -> _Tally:
    errors = [error for error in marked.answer.errors if error.spans]
    places = [error.spans for error in errors]
    pairs = match_errors(marked.spans, places, threshold)
    overlapping = match_errors(marked.spans, places, 0.0)
    gold = [span for spans in places for span in spans]
    by_sentence = tokens(marked.spans, gold, sentences(marked.answer.sample.text), credit=1.0)
    return _Tally(marked, errors, {error for _, error in pairs}, len(overlapping), by_sentence)


def _overall(tallies: Sequence[_Tally], lost: Lost) -> Iterator[Result]:
    counts: dict[str, tuple[Callable[[_Tally], float], Callable[[_Tally], float]]] = {
        "precision": (lambda t: len(t.matched), lambda t: t.predicted),
        "recall": (lambda t: len(t.matched), lambda t: len(t.errors)),
        "f1": (lambda t: 2 * len(t.matched), lambda t: t.predicted + len(t.errors)),
        "f1_overlap": (lambda t: 2 * t.overlapping, lambda t: t.predicted + len(t.errors)),
        "sentence_precision": (lambda t: t.sentences.matched, lambda t: t.sentences.predicted),
        "sentence_recall": (lambda t: t.sentences.matched, lambda t: t.sentences.gold),
        "sentence_f1": (lambda t: 2 * t.sentences.matched, lambda t: t.sentences.predicted + t.sentences.gold),
    }
    parts = _with_lost(tallies, lost)
    for name, (above, below) in counts.items():
        rows, *ends = ([(t, above(t), below(t)) for t in part] for part in parts)
        # Nobody can say how many wrong spans a judge would mark, but of sentences there are so many.
        bounded = name == "recall" or name.startswith("sentence_")
        yield _ratio(name, rows, len(lost), ends if bounded else ())


def _recall(tallies: Sequence[_Tally], lost: Lost) -> dict[str, Result]:
    """Return the share of errors that were found, by kind of error; an error of several kinds counts in each."""
    by_label = []
    for part in _with_lost(tallies, lost):
        labelled: dict[str, list[tuple[_Tally, float, float]]] = defaultdict(list)
        for tally in part:
            for place, error in enumerate(tally.errors):
                for label in _labels(error):
                    labelled[label].append((tally, float(place in tally.matched), 1.0))
        by_label.append(labelled)
    recall = {}
    for label in ("thin", "thick", *CATEGORIES, *TYPES, "found by people", "found by models", "found by people only"):
        rows, *ends = (labelled[label] for labelled in by_label)
        if every := ends[0] if ends else rows:
            recall[label] = _ratio(label, rows, len(every) - len(rows), ends)
    return recall


def _with_lost(tallies: Sequence[_Tally], lost: Lost) -> list[list[_Tally]]:
    """Return what became of the answers; where some are missing, also of all of them at worst and at best."""
    ends = [[*tallies, *(pair[end] for pair in lost)] for end in (0, 1)] if lost else []
    return [list(tallies), *ends]


def _labels(error: MarkedError) -> set[str]:
    kinds = {annotation.kind for annotation in error.annotations}
    labels = set(error.categories) | {annotation.type for annotation in error.annotations if annotation.type}
    labels |= {name for name, categories in (("thin", THIN), ("thick", THICK)) if labels & set(categories)}
    labels |= {name for kind, name in (("human", "found by people"), ("model", "found by models")) if kind in kinds}
    return labels | ({"found by people only"} if kinds == {"human"} else set())


def _by_group(tallies: Sequence[_Tally], lost: Lost) -> dict[str, dict[str, Result]]:
    groups: dict[str, dict[str, list[_Tally]]] = defaultdict(lambda: defaultdict(list))
    missing: Counter[tuple[str, str]] = Counter()
    for place, tally in enumerate([*tallies, *(pair[0] for pair in lost)]):
        answer = tally.marked.answer
        labels = {"region": answer.sample.region, "language": answer.sample.language}
        for grouping, group in (labels | {"language_type": answer.language_type}).items():
            if place < len(tallies):
                groups[grouping][group or "unknown"].append(tally)
            else:
                missing[grouping, group or "unknown"] += 1
    by: dict[str, dict[str, Result]] = {}
    for grouping, parts in groups.items():
        for group, part in sorted(parts.items()):
            rows = [(t, 2 * len(t.matched), t.predicted + len(t.errors)) for t in part]
            by.setdefault(grouping, {})[group] = _ratio("f1", rows, missing[grouping, group])
    return by


def _ratio(name: str, rows: Rows, unscored: int, ends: Sequence[Rows] = ()) -> Result:
    """Return Σ above / Σ below with its interval; `ends` are with the unscored as bad and as good as they can be."""
    if not ends:
        result = ratio_between(name, SHARE, _units(rows), (_units(rows), _units(rows)), len(rows), 0)
        return result.model_copy(update={"unscored": unscored})
    worst, best = map(_units, ends)
    return ratio_between(name, SHARE, _units(rows), (worst, best), len(rows), unscored)


def _units(rows: Rows) -> Floats:
    """Return what counts above, and the rest of what counts below, by request."""
    codes = group_codes(np.array([tally.marked.answer.query for tally, _, _ in rows], dtype=object), len(rows))
    columns = (np.array([row[place] for row in rows], dtype=np.float64) for place in (1, 2))
    above, below = (np.bincount(codes, weights=column) for column in columns)
    return np.stack([above, below - above], axis=1)
