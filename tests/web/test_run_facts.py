"""What reports say about how a run was made."""

import citeweave
from citeweave.explore import Exploration
from citeweave.web.run_facts import RunFacts


def test_lengths_that_were_left_open_are_shown():
    model = citeweave.SCNTM(topics=2, iterations=4, seed=1).fit(citeweave.example_corpus())
    rows = dict(RunFacts(Exploration(model)).parameter_rows())
    assert rows["iterations per chain"] == "4"
    assert rows["chains"] == "2"
