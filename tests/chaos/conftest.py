"""The real command in an empty folder, as in the tests of the command line."""

from tests.cli.conftest import home, mores

__all__ = ["home", "mores"]
