"""Table 1 of A. P. Dawid and A. M. Skene, Applied Statistics 28 (1979): 45 patients, each with the classes 1 to 4 that
five anaesthetists gave; the first saw every form three times.
"""

from __future__ import annotations

PATIENTS = """
111 1 1 1 1;  333 4 3 3 4;  112 2 1 2 2;  222 3 1 2 1;  222 3 2 2 2;  222 3 3 2 2;  122 2 1 1 1;  333 3 4 3 3
222 2 2 2 3;  232 2 2 2 3;  444 4 4 4 4;  222 3 3 4 3;  111 1 1 1 1;  222 3 2 1 2;  121 1 1 1 1;  111 2 1 1 1
111 1 1 1 1;  111 1 1 1 1;  222 2 2 2 1;  222 1 3 2 2;  222 2 2 2 2;  222 2 2 2 1;  222 3 2 2 2;  221 2 2 2 2
111 1 1 1 1;  111 1 1 1 1;  232 2 2 2 2;  111 1 1 1 1;  111 1 1 1 1;  112 1 1 2 1;  111 1 1 1 1;  333 3 2 3 3
111 1 1 1 1;  222 2 2 2 2;  222 3 2 3 2;  433 4 3 4 3;  221 2 2 3 2;  232 3 2 3 3;  333 3 4 3 2;  111 1 1 1 1
111 1 1 1 1;  121 2 1 1 1;  232 2 2 2 2;  121 1 1 1 1;  222 2 2 2 2
"""
VOTES = [
    (patient, observer, int(given))
    for patient, row in enumerate(PATIENTS.strip().replace("\n", ";").split(";"), 1)
    for observer, several in enumerate(row.split(), 1)
    for given in several
]
PREVALENCE = [0.40, 0.42, 0.11, 0.07]
"""As published, to two digits, as are the error rates."""
FIRST = [[0.89, 0.11, 0, 0], [0.07, 0.88, 0.05, 0], [0, 0.34, 0.66, 0], [0, 0, 0.56, 0.44]]
"""The first observer: true × given classes."""
