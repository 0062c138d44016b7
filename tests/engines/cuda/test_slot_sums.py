"""P and M as a document sees them after its moves over slots are those of the counts it leaves."""

import ctypes
from dataclasses import replace

import numpy as np
import pytest
from cuda_tools import small_data
from host_device import HostDevice

import citeweave.engines.cuda.proposals as proposals_module
from citeweave.engines.core.data import ChainSettings
from citeweave.engines.core.spec import Level, preset
from citeweave.engines.cuda import CudaChain
from citeweave.engines.threads.streams import next_key

TOPICS = 70

VIEW = """
extern "C" { double seen_cite[TOPICS], seen_cited[TOPICS], seen_error, seen_change; }
extern "C" { int seen_far, seen_wide; }
static void note_change(double before, double after, double change) {
  if (fabs(change) > seen_change) seen_change = fabs(change);
  if (fabs(after - before - change) > seen_error) seen_error = fabs(after - before - change);
}
"""
WORD_RATE = """
[&]() {
  double rate = 0.0;
  for (int topic = 0; topic < K; topic++) {
    int slot = find_slot(walk.cells, walk.n_slots, topic);
    double scale = ctx.topic_scale[topic];
    double cite = scale * ctx.cite_sum[topic], cited = scale * ctx.cited_sum[topic];
    for (int level = 0; level < N_SHARED; level++) {
      Seats seats = seats_of(path.node[level], topic);
      double own = own_share<double>(level, seats.customers, seats.tables);
      cite += scale * walk.outer->cite[level] * own;
      cited += scale * walk.outer->cited[level] * own;
    }
    if (slot >= 0) {
      cite = walk[slot].real(FIELD_CITE);
      cited = walk[slot].real(FIELD_CITED);
    }
    rate += cite * cited / scale;
  }
  return rate;
}()
"""
CITE_RATE = """
[&](i64 last) {
  double rate = 0.0;
  for (int topic = 0; topic < K; topic++) {
    int slot = find_slot(rows, walk.n_slots, topic);
    Pair sums = stranger_sums(standing_of(walk, ends, last), topic);
    if (slot >= 0) {
      sums.stay = rows[slot].real(END_CITE);
      sums.open = rows[slot].real(END_CITED);
    }
    rate += (double)sums.stay * sums.open / ctx.topic_scale[topic];
  }
  return rate;
}
"""
WORDS = """
      for (int k = 0; network_on && length > 0 && k < K; k++) {
        int slot = find_slot(walk.cells, walk.n_slots, k);
        float cite = (float)(ctx.topic_scale[k] * ctx.cite_sum[k]);
        float cited = (float)(ctx.topic_scale[k] * ctx.cited_sum[k]);
        for (int level = 0; level < N_SHARED; level++) {
          Seats seats = seats_of(path.node[level], k);
          float own = own_share<float>(level, seats.customers, seats.tables);
          cite += (float)ctx.topic_scale[k] * walk.outer->cite[level] * own;
          cited += (float)ctx.topic_scale[k] * walk.outer->cited[level] * own;
        }
        seen_cite[k] = slot < 0 ? cite : walk[slot].real(FIELD_CITE);
        seen_cited[k] = slot < 0 ? cited : walk[slot].real(FIELD_CITED);
        seen_far |= walk.n_slots > NEAR_SLOTS;
        seen_wide |= walk.outer->cite[0] != 0.0f;
      }
"""
CITATIONS = """
      for (int k = 0; length > 0 && k < K; k++) {
        int slot = find_slot(rows, walk.kept, k);
        Pair sums = stranger_sums(standing_of(walk, ends, turn.begin + length), k);
        seen_cite[k] = slot < 0 ? sums.stay : rows[slot].real(END_CITE);
        seen_cited[k] = slot < 0 ? sums.open : rows[slot].real(END_CITED);
        seen_far |= walk.kept > NEAR_SLOTS;
        seen_wide |= walk.beyond.recorded;
      }
"""


class Watched(HostDevice):
    """Kernels that leave behind what the last document saw of P and M."""

    def change(self, source):
        first = "// Random streams, ratio weights"
        assert source.count(first) == 1
        source = source.replace(first, VIEW.replace("TOPICS", str(TOPICS)) + first)
        commit = "if (asks && allowed) commit_change(walk, change, old, k);"
        assert source.count(commit) == 1
        source = source.replace(
            commit,
            f"double rate_before = {WORD_RATE};\n{commit}\n"
            f"if (asks && allowed) note_change(rate_before, {WORD_RATE}, rate);",
        )
        commit = "if (made) commit_cite_change(walk, ends, old, k);"
        assert source.count(commit) == 1
        source = source.replace(commit, f"double rate_before = {CITE_RATE}(e);\n{commit}")
        leaves = "leave_cited(walk, ends, e, made, accepted ? k : -1);\n"
        assert source.count(leaves) == 1
        source = source.replace(
            leaves, f"{leaves}if (made) note_change(rate_before, {CITE_RATE}(e + 1), change);\n"
        )
        end_of_words = "    if (length > 0) leave_document(walk, path);\n"
        assert end_of_words in source
        source = source.replace(end_of_words, WORDS + end_of_words)
        end = "(e + 1), change);\n    }"
        assert source.count(end) == 1
        return source.replace(end, end + CITATIONS)

    def view(self, name):
        return np.array((ctypes.c_double * TOPICS).in_dll(self.library, name))

    def number(self, name):
        return ctypes.c_double.in_dll(self.library, name).value

    def forget(self):
        for name in ("seen_error", "seen_change"):
            ctypes.c_double.in_dll(self.library, name).value = 0.0
        for name in ("seen_far", "seen_wide"):
            ctypes.c_int.in_dll(self.library, name).value = 0

    def flag(self, name):
        place = ctypes.c_int.in_dll(self.library, name)
        value, place.value = place.value, 0
        return value


SPECS = {
    "authors": preset("scntm"),
    "no authors": preset("scntm").without("nu"),
    "citations see what words see": preset("scntm").without("theta"),
    "fields above authors": replace(
        preset("scntm"),
        topic_side=(
            preset("scntm").topic_side[0],
            Level("field", "group", 0.02),
            *preset("scntm").topic_side[1:],
        ),
    ),
}
CASES = [
    *(("authors", most_listed) for most_listed in (0, 30, 64)),
    ("no authors", 64),
    ("citations see what words see", 30),
    ("fields above authors", 30),
]


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}, {case[1]} listed")
def chain(request, monkeypatch):
    """Have some authors listed, all, or none."""
    name, most_listed = request.param
    monkeypatch.setattr(proposals_module, "MOST_LISTED", most_listed)
    spec = SPECS[name]
    data = small_data(spec, documents=60, authors=9, citations=400)
    if spec.n_shared == 3:  # three authors a field
        data = data._replace(parents=(np.zeros(3, int), np.arange(9) // 3, *data.parents[1:]))
    settings = ChainSettings(topics=TOPICS, network_from=1)
    chain = CudaChain(spec, data, settings, seed=1, device=Watched(), sparse=True)
    chain.start()
    for _ in range(4):
        chain.step()
    chain.some_unlisted = spec.n_shared > 1 and bool((chain.arrays["listed"] == 0).any())
    return chain


def compare(chain):
    """Compare with P and M of the counts that the document left."""
    chain._draws.weigh()
    for seen, name in (("seen_cite", "cite_sum"), ("seen_cited", "cited_sum")):
        counted = chain.arrays["topic_scale"] * chain.arrays[name]
        # what a move changes is far below the sums themselves: 1e-6 would hide nothing
        np.testing.assert_allclose(chain.device.view(seen), counted, rtol=2e-6, atol=1e-9)


def test_words_leave_the_sums_that_they_saw(chain):
    chain.device.forget()
    changed = 0.0
    lengths = np.diff(chain.layout.document_start)[chain.arrays["order"]]
    for place in range(0, np.count_nonzero(lengths), 6):
        chain._draws.weigh()
        chain.proposals.before_words()
        before = chain.arrays["cite_sum"].copy()
        chain.device.clear(chain.arrays["counter"])
        chain.run("sweep_words", next_key(chain.host.random), place, place + 1, 1)
        chain._repair_nodes()
        chain._repair_words()
        compare(chain)
        used = before > 0  # a topic that nobody has weighs nothing
        changed = max(changed, np.abs(chain.arrays["cite_sum"][used] / before[used] - 1).max())
    assert changed > 1e-3
    assert chain.device.flag("seen_far")
    assert chain.device.flag("seen_wide")
    assert chain.device.number("seen_change") > 0.01
    assert chain.device.number("seen_error") < 2e-4 * chain.device.number("seen_change")


def test_citations_leave_the_sums_that_they_saw(chain):
    chain.device.forget()
    made = np.diff(chain.arrays["cites"])[chain.arrays["cite_order"]]
    for place in np.flatnonzero(made > 0)[::4]:
        chain._draws.weigh()
        chain.proposals.before_citations()
        chain.device.clear(chain.arrays["counter"])
        chain.device.clear(chain.arrays["move_depth"])
        chain.run("sweep_citations", next_key(chain.host.random), int(place), int(place) + 1, 0)
        n_citations = len(chain.layout.citing)
        chain.run("add_moves", n_citations, n_citations, 0, 1)
        for level in range(chain.citation_level, chain.spec.n_shared - 1, -1):
            chain.run("repair_documents", level, 0, 1)
        chain._repair_nodes()
        compare(chain)
    # with all authors listed no slope but mu's and fields' reaches topics without a slot
    wide = chain.some_unlisted or chain.spec.n_shared == 3
    assert bool(chain.device.flag("seen_wide")) == wide
    assert chain.device.number("seen_change") > 0.01
    assert chain.device.number("seen_error") < 2e-4 * chain.device.number("seen_change")
