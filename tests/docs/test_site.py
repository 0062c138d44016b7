"""The site is built without a warning, offline, and holds every public name and command."""

import ast
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from citeweave.cli.main import app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PACKAGE = ROOT / "src" / "citeweave"
INTERNAL = {"engines.cuda", "engines.slots", "engines.threads", "web.pages"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if missing := [
        name
        for name in ("sphinx", "myst_parser", "pydata_sphinx_theme")
        if importlib.util.find_spec(name) is None
    ]:
        pytest.skip(f"{', '.join(missing)} not installed: pip install '.[docs]'")
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-n", "-q", "-b", "html"]
    offline = {
        **os.environ,
        "http_proxy": "http://127.0.0.1:9",
        "https_proxy": "http://127.0.0.1:9",
    }
    built = subprocess.run(
        [*command, "-d", str(out / "doctrees"), str(DOCS), str(out / "html")],
        capture_output=True,
        text=True,
        env=offline,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    return out / "html"


def public_names() -> set[str]:
    """Every name that a package of citeweave exports, by the packages' own lists."""
    names = set()
    for path in PACKAGE.rglob("__init__.py"):
        package = ".".join(path.parent.relative_to(PACKAGE).parts)
        if package in INTERNAL:
            continue
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
                names |= {
                    f"{package}.{name}".lstrip(".") for name in ast.literal_eval(statement.value)
                }
    return names - {"__version__", "datasets", "simulate"}  # packages, described as such


def test_every_public_name_is_described(site: Path) -> None:
    text = "".join(page.read_text("utf-8") for page in (site / "reference" / "api").glob("*.html"))
    described = {
        name.removeprefix("citeweave.") for name in re.findall(r'id="(citeweave[\w.]+)"', text)
    }
    again = {name.rsplit(".", 1)[-1] for name in described if "." not in name}
    missing = {name for name in public_names() - described if name.rsplit(".", 1)[-1] not in again}
    assert missing == set()


def test_every_command_and_option_is_described(site: Path) -> None:
    page = (site / "reference" / "commands.html").read_text(encoding="utf-8")
    group = typer.main.get_command(app)
    nested = {
        f"{name}-{below}": one
        for name, command in group.commands.items()
        for below, one in getattr(command, "commands", {}).items()
    }
    assert {"datasets-get", "datasets-table"} <= set(nested)
    for name, command in {**group.commands, **nested}.items():
        if command.hidden:
            continue
        section = page.split(f'<section id="{name}">', 1)[1].split('<section id="', 1)[0]
        assert "–" not in section, f"{name}: two hyphens have become a dash"
        for option in command.params:
            if option.param_type_name == "argument":
                assert f">{option.metavar or option.name.upper()}<" in section, (name, option.name)
                assert f"<p>{option.help}</p>" in section, (name, option.help)
            elif not option.hidden:
                assert f">{option.opts[0]}<" in section, (name, option.opts[0])


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r'<(?:script|img|link|iframe)\b[^>]*?(?:src|href)="(//|https?:)', text)
        assert not loaded, page
    assert (site / "_static" / "mathjax" / "tex-svg.js").is_file()
    assert (site / "searchindex.js").is_file()


def test_the_reference_shows_no_objects_of_the_interpreter(site: Path) -> None:
    """Such as the functions by which declared parameters are checked."""
    for page in (site / "reference" / "api").glob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert "&lt;locals&gt;" not in text, page
        assert "</em>) -- " not in text, f"{page}: two hyphens in place of a dash"
        assert "<em>,</em>)" not in text, f"{page}: a name taken for a type"


def test_fitted_attributes_keep_their_underscore(site: Path) -> None:
    text = (site / "reference" / "api" / "citeweave.html").read_text(encoding="utf-8")
    for name in ("doc_topic_", "labels_", "cite_propensity_", "cited_propensity_", "traces_"):
        assert f"<strong>{name}</strong>" in text, name
