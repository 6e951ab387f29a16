"""The names under which benchmarks written for 0.2.0 import the functions of `mores.prompts`."""

from mores.prompts import fill as fill
from mores.prompts import hash_prompts as hash_of
from mores.prompts import read_prompt as prompt

__all__ = ["fill", "hash_of", "prompt"]
