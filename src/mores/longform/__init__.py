"""Long answers: surface, facts and relevance, after CaLMQA and VeriScore."""

from mores.calling import make_callable

make_callable(__name__)
