"""Keyword queries: presets, matching, labels, files."""

import builtins

import pytest

from citeweave.errors import MissingDependencyError, ParameterError
from citeweave.preparing import Query, QueryCounts
from citeweave.preparing.queries import PRESETS


def test_presets_hold_the_papers_lists():
    sizes = {
        name: {c: len(k) for c, k in Query.preset(name).categories.items()} for name in PRESETS
    }
    assert sizes["ml"] == {"Machine Learning": 95}
    assert len(sizes["m10"]) == 10
    assert sizes["avs"].keys() == {"History", "Religion", "Physics", "Chemistry", "Biology"}
    assert set(sizes["m10"].values()) == set(sizes["avs"].values()) == {10}
    assert "nineteeth century" in Query.preset("avs").categories["History"]
    with pytest.raises(ParameterError, match="one of: ml, m10, avs"):
        Query.preset("m11")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Gene-Expression in amino acids", ["Biology"]),
        ("Neural networks", ["Computer Science"]),
        ("Mechanical properties of silica", ["Material Science"]),
        ("Network, neural", []),
        ("A black  hole", ["Physics"]),
        ("Neural networks of black holes", ["Computer Science", "Physics"]),
        ("Genetic drift", []),
        (None, []),
    ],
)
def test_matching_allows_plurals_and_hyphens(text, found):
    assert Query.preset("m10").matches(text) == found


def test_selection_labels_and_drops(make):
    records = [
        make("a", title="On enzymes", category="old"),
        make("b", title="x", abstract="black hole", keywords=("enzyme",)),
        make("c", title="nothing"),
        make("d", title="x", keywords=("Crude oil",)),
    ]
    counts = QueryCounts()
    kept = list(Query.preset("m10").select(records, counts=counts))
    assert [(r.id, r.category) for r in kept] == [("a", "Biology"), ("d", "Petroleum Chemistry")]
    assert counts.as_dict() == {
        "read": 4,
        "unmatched": 1,
        "several": 1,
        "by_category": {"Biology": 1, "Petroleum Chemistry": 1},
    }
    both = Query({"X": ["enzyme"], "Y": ["black hole"]}, keep_several=True)
    assert [r.category for r in both.select(records)] == ["X", "X"]


def test_queries_from_files(tmp_path):
    toml = tmp_path / "mine.toml"
    toml.write_text('[categories]\n"Trees" = ["oak", "decision tree"]\n')
    assert Query.from_file(toml).matches("Decision trees") == ["Trees"]
    toml.write_text('Trees = ["oak"]\n')
    query = Query.from_file(toml)
    assert (query.name, query.matches("OAKS")) == ("mine", ["Trees"])


def test_queries_from_yaml(tmp_path):
    pytest.importorskip("yaml")
    path = tmp_path / "mine.yaml"
    path.write_text("name: trees\ncategories:\n  Trees: [oak]\n")
    assert Query.from_file(path).matches("oak") == ["Trees"]
    path.write_text("a: [")
    with pytest.raises(ParameterError, match="not YAML"):
        Query.from_file(path)


def test_yaml_without_pyyaml_names_the_install_line(tmp_path, monkeypatch):
    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name == "yaml":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    path = tmp_path / "mine.yml"
    path.write_text("Trees: [oak]")
    with pytest.raises(MissingDependencyError, match="pip install pyyaml"):
        Query.from_file(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[categories]\nTrees = "oak"', "must have a list of keywords"),
        ('[categories]\nTrees = ["!"]', "empty keyword"),
        ("[categories]", "has no keywords"),
        ("name = 'x'", "no table 'categories'"),
        ("[categories]\nT = ['a']\n[catgories]", "Unknown entry: 'catgories'"),
        ("= 3", "not TOML"),
    ],
)
def test_wrong_queries_say_what_to_do(tmp_path, content, message):
    path = tmp_path / "mine.toml"
    path.write_text(content)
    with pytest.raises(ParameterError, match=message):
        Query.from_file(path)
