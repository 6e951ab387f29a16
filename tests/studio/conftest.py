from collections.abc import Iterator
from pathlib import Path

import pytest

from mores.studio.store.database import Database, open_database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """An empty SQLite database."""
    database = open_database(tmp_path / "studio.db")
    yield database
    database.close()
