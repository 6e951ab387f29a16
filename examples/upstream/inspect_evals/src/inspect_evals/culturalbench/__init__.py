"""CulturalBench: cultural knowledge of 45 regions."""

from .culturalbench import culturalbench_easy, culturalbench_hard

__all__ = ["culturalbench_easy", "culturalbench_hard"]
