"""The public functions for type checkers and editors; `mores` itself imports each when it is first used."""

from mores.benchmark import api as benchmark
from mores.calling import blocking
from mores.diagnosis import api as diagnosis
from mores.factory import api as factory
from mores.harness import api as harness
from mores.longanswer import api as longanswer
from mores.metaevaluation import api as metaevaluation
from mores.metric import api as metric
from mores.planning import api as planning
from mores.rating import api as rating
from mores.report import api as report
from mores.search import api as search
from mores.training import api as training

audit = blocking(metric.audit)
bench = blocking(benchmark.bench)
board = blocking(benchmark.board)
build = blocking(factory.build)
cite = blocking(report.cite)
collect = blocking(longanswer.collect)
compare = blocking(metaevaluation.compare)
corpus = blocking(search.corpus)
diagnose = blocking(diagnosis.diagnose)
export = blocking(training.export)
export_task = blocking(harness.export_task)
ground = blocking(training.ground)
judge_check = blocking(benchmark.judge_check)
longform = blocking(longanswer.longform)
meta = blocking(metaevaluation.meta)
plan = blocking(planning.plan)
rate = blocking(rating.rate)
score = blocking(metric.score)
score_file = blocking(metric.score_file)
show = blocking(report.show)
sources = blocking(factory.sources)
tiers = blocking(benchmark.tiers)
topics = blocking(benchmark.topics)
train = blocking(training.train)
