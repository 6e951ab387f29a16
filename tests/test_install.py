"""How people install Mores: what messages and docs tell them, and what the command does beside another `mores`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from base64 import urlsafe_b64encode
from hashlib import sha256
from pathlib import Path

import pytest
import yaml

import mores
from mores.extras import EXTRAS, install_command
from tests.cli.conftest import run_in_process

ROOT = Path(__file__).parents[1]
BY_NAME = re.compile(
    r"\b(?:pip3?|pipx|uv|uvx|poetry|conda)\b(?:(?!uninstall)[^\n`;|#\"])*? ['\"]?mores(?:-eval)?(?:\[[\w,]*\])?['\"]?"
    r"(?=[\s`;,)'\"]|$)(?! @)|(?<![\w/-])mores\[[a-z]+"
)
"""An installer with `mores` or `mores-eval` as a name to look up on the index, or that name with an extra."""


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("pip install mores", True),
        ("pip install 'mores[hf]'", True),
        ("uv tool install mores-eval", True),
        ("uvx mores score texts.jsonl", True),
        ("needs `mores[hf]`", True),
        ("pip install '.[hf]'; mores score texts.jsonl", False),
        ("pip install 'mores-eval[hf] @ git+https://host/mores'", False),
        ("pip install ./mores", False),
        ("pip uninstall mores mores-eval", False),
    ],
)
def test_an_installation_by_name_is_found(line: str, found: bool) -> None:
    assert bool(BY_NAME.search(f"run: {line}\n")) == found


@pytest.mark.slow
def test_nothing_tells_people_to_install_a_name_from_the_index() -> None:
    """`mores` there is another product, and `mores-eval` is not registered yet (docs/release.md)."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    paths = [Path(ROOT, path) for path in listed.stdout.split("\0") if path]
    if not paths:
        pytest.skip("not a checkout: git lists no files")
    text = {".md", ".py", ".toml", ".yml", ".yaml", ".j2", ".html", ".js", ".cff", ".ipynb", ""}
    kept = [
        path
        for path in paths
        if path.suffix in text and path.is_file() and "fixtures" not in path.parts and path != Path(__file__)
    ]
    assert len(kept) > 500
    told = {path: BY_NAME.findall(path.read_text("utf-8", errors="replace")) for path in kept}
    assert {str(path.relative_to(ROOT)): lines for path, lines in told.items() if lines} == {}


# Messages


def installed_from(site: Path, origin: dict[str, object] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a distribution `mores-eval` that an installer took from somewhere."""
    about = site / "mores_eval-9.9.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: mores-eval\nVersion: 9.9\n")
    if origin is not None:
        (about / "direct_url.json").write_text(json.dumps(origin))
    monkeypatch.syspath_prepend(site)


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        ({"url": "file:///home/me/my%20code", "dir_info": {}}, "pip install '/home/me/my code[hf]'"),
        ({"url": "file:///src/mores", "dir_info": {"editable": True}}, "pip install -e '/src/mores[hf]'"),
        (
            {"url": "https://host/mores", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            "pip install 'mores-eval[hf] @ git+https://host/mores'",
        ),
        (
            {"url": "file:///tmp/mores_eval-9.9-py3-none-any.whl", "archive_info": {}},
            "pip install 'mores-eval[hf] @ file:///tmp/mores_eval-9.9-py3-none-any.whl'",
        ),
        (None, "pip install 'mores-eval[hf]'"),  # from an index, where its name then is ours
    ],
)
def test_an_extra_comes_from_where_mores_came_from(
    origin: dict[str, object] | None, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed_from(tmp_path, origin, monkeypatch)
    assert install_command("hf") == command
    assert install_command("vllm") == "pip install vllm"


def test_a_copy_that_was_never_installed_names_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(Path(mores.__file__).parents[1])])
    assert install_command("hf") == "pip install '.[hf]' in a checkout of Mores"


def test_every_extra_that_users_install_is_known() -> None:
    import tomllib

    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert set(EXTRAS) == set(declared) - {"dev", "docs"}


ALONE = """
import sys
sys.modules |= dict.fromkeys({missing!r})
{start}
"""


@pytest.mark.often("extras1-import mores; mores.serve_app('fake:clean'); mores.view_app('.')")
@pytest.mark.parametrize(
    ("extras", "start"),
    [
        (("serve", "studio"), "from mores.studio import app; app('studio.db', model='none')"),
        (("serve",), "import mores; mores.serve_app('fake:clean'); mores.view_app('.')"),
    ],
)
def test_a_server_starts_with_the_packages_of_its_extra(extras: tuple[str, ...], start: str, tmp_path: Path) -> None:
    """As in the container, which has no other extra but Parquet's."""
    there = {module for extra in extras for module in EXTRAS[extra]}
    missing = {module for modules in EXTRAS.values() for module in modules} - there
    code = ALONE.format(missing=sorted(missing), start=start)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# Another `mores`


class Site:
    """A folder of installed packages, with ours as a wheel puts it there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "mores").symlink_to(ROOT / "src" / "mores")
        (folder / "mores_start.py").write_bytes((ROOT / "src" / "mores_start.py").read_bytes())
        content = (ROOT / "src" / "mores" / "__init__.py").read_bytes()
        self.record("mores_eval-0.2.0", content)

    def record(self, name: str, content: bytes) -> None:
        """Write the list of files of a distribution that has this first file of the package."""
        about = self.folder / f"{name}.dist-info"
        about.mkdir()
        digest = urlsafe_b64encode(sha256(content).digest()).decode().rstrip("=")
        (about / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name.partition('-')[0].replace('mores_', 'mores-')}\nVersion: 1\n"
        )
        (about / "RECORD").write_text(f"other.py,,\nmores/__init__.py,sha256={digest},{len(content)}\n")

    def overwrite(self) -> bytes:
        """Put another package in the place of ours."""
        (self.folder / "mores").unlink()
        (self.folder / "mores").mkdir()
        content = b"print('another product runs')\n"
        (self.folder / "mores" / "__init__.py").write_bytes(content)
        return content

    def run(self, *others: Path) -> subprocess.CompletedProcess[str]:
        paths = os.pathsep.join(map(str, (self.folder, *others)))
        command = [sys.executable, "-c", "from mores_start import main; main()", "--version"]
        return subprocess.run(
            command, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True, check=False
        )


@pytest.fixture
def site(tmp_path: Path) -> Site:
    folder = tmp_path / "site"
    folder.mkdir()
    return Site(folder)


def test_the_command_runs_where_mores_is_ours(site: Site) -> None:
    plugin = site.folder / "mores_plugin-1.0.dist-info"
    plugin.mkdir()
    (plugin / "RECORD").write_text("mores_plugin/__init__.py,,\n")
    done = site.run()
    assert (done.returncode, done.stderr) == (0, "")
    assert mores.__version__ in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mores-3.1", "unrelated_name-1.0"])
def test_another_distribution_that_was_installed_later_is_named_and_not_run(site: Site, name: str) -> None:
    site.record(name, site.overwrite())
    done = site.run()
    assert (done.returncode, done.stdout) == (2, "")
    other = name.partition("-")[0]
    assert f"the distribution {other} has put files here" in done.stderr
    assert f"pip uninstall {other} mores-eval` and install Mores again" in done.stderr


@pytest.mark.slow
def test_another_distribution_that_was_installed_earlier_is_named_too(site: Site) -> None:
    site.record("mores-3.1", b"its first file, which ours has replaced")
    done = site.run()
    assert done.returncode == 2
    assert "the distribution mores has put files here" in done.stderr


@pytest.mark.slow
def test_another_package_that_hides_a_checkout_is_not_run(site: Site) -> None:
    """As beside an editable installation: ours is found only after the folder of installed packages."""
    site.record("mores-3.1", site.overwrite())
    (site.folder / "mores_start.py").unlink()
    done = site.run(ROOT / "src")
    assert (done.returncode, done.stdout) == (2, "")
    assert "the distribution mores has put files here" in done.stderr


# The container and the release


def test_the_container_copies_what_its_commands_need() -> None:
    steps = (ROOT / "Dockerfile").read_text("utf-8")
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").split() if line.startswith("!")}
    copied = {name for line in re.findall(r"^COPY (.+) \S+$", steps, re.MULTILINE) for name in line.split()}
    assert copied == allowed
    assert all((ROOT / name).exists() for name in copied)
    extras = re.search(r"'\.\[([\w,]+)\]'", steps)
    assert extras is not None
    assert set(extras[1].split(",")) <= set(EXTRAS)
    assert re.search(r"--constraint (\S+)", steps)[1] in copied  # type: ignore[index]


def test_compose_starts_the_studio_with_options_that_it_has() -> None:
    from mores.cli.servers import studio

    services = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]
    entry = json.loads(re.search(r"^ENTRYPOINT (.+)$", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE)[1])  # type: ignore[index]
    assert entry[:2] == ["mores", "studio"]
    options = {name for parameter in studio.params for name in (*parameter.opts, *parameter.secondary_opts)}
    given = {word for word in (*entry[2:], *services["studio"]["command"]) if word.startswith("--")}
    assert given <= options
    known = {parameter.envvar for parameter in studio.params} | {
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "FORWARDED_ALLOW_IPS",
    }
    assert set(services["studio"]["environment"]) <= known
    assert services["studio"]["ports"] == ["127.0.0.1:8000:8000"]  # this machine only


def test_the_release_workflow_publishes_what_was_checked() -> None:
    """Trusted publishing: no token; the files are built once, tested, and attested before they are uploaded."""
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    assert "secrets." not in text
    assert jobs["publish"]["permissions"] == {"id-token": "write", "attestations": "write"}
    assert jobs["publish"]["needs"] == "build"
    assert any("make release-check" in step.get("run", "") for step in jobs["build"]["steps"])
    used = [step["uses"] for job in jobs.values() for step in job["steps"] if "uses" in step]
    assert all(re.fullmatch(r"[\w./-]+@(v\d+|release/v\d+)", name) for name in used)
    first = re.search(r"^1\. (.+)", (ROOT / "docs" / "release.md").read_text("utf-8"), re.MULTILINE)
    assert first is not None
    assert "register the name" in first[1].lower()


@pytest.mark.slow
def test_the_action_and_the_hook_run_commands_that_exist(tmp_path: Path) -> None:
    steps = {
        step.get("name"): step for step in yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"]
    }
    (tmp_path / "t.jsonl").write_text('{"text": "fine"}\n')
    given = {"TEXTS": "t.jsonl", "MODEL": "fake:first-word", "OPTIONS": "--fail-on minor --max-unjudged 2%"}
    ours = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "MORES_CACHE": str(tmp_path / "cache")}
    assert steps["Judge"]["env"].keys() == given.keys()
    command = ["bash", "-e", "-c", steps["Judge"]["run"]]
    done = subprocess.run(
        command, cwd=tmp_path, env=os.environ | ours | given, capture_output=True, text=True, check=False
    )
    assert done.returncode == 3, done.stderr
    assert "::error file=t.jsonl,line=1" in done.stderr
    assert {"mores.xml", "mores.html"} <= {path.name for path in tmp_path.iterdir()}
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    shown = re.search(
        r"```yaml\n# .pre-commit-config.yaml\n(.+?)```", (ROOT / "docs/ci.md").read_text("utf-8"), re.DOTALL
    )
    assert shown is not None
    [used] = yaml.safe_load(shown[1])["repos"][0]["hooks"]
    assert used["id"] == hook["id"]
    (tmp_path / used["args"][0]).write_text('{"text": "fine"}\n')
    (tmp_path / used["args"][2]).write_text('{"text": "fine"}\n')
    program, *words = hook["entry"].split()
    assert program == "mores"
    ended = run_in_process(tmp_path, (*words, *used["args"], "--model", "fake:clean"), env=ours)
    assert ended.returncode == 0, ended.stderr
