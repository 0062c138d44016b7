"""A chain whose state lives on a GPU for the whole run."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Self

import numpy as np

from citeweave.engines.core.arrays import State
from citeweave.engines.core.capabilities import SNAPSHOT, Capabilities
from citeweave.engines.core.chain import NO_EXTRA, Chain, StepReport
from citeweave.engines.core.data import ChainSettings, Data, Request
from citeweave.engines.core.estimates import Sums
from citeweave.engines.core.exponent import Exponent, new_exponent, rebuild_exponent
from citeweave.engines.core.self_citations import MOST_SELF
from citeweave.engines.core.setting_up import check_citation_order
from citeweave.engines.core.sparse_sweeps import SPARSE_FROM
from citeweave.engines.core.spec import LEFT_OUT, ModelSpec
from citeweave.engines.cuda.device import CudaDevice, Device
from citeweave.engines.cuda.faults import check_counted
from citeweave.engines.cuda.memory import (
    SERVED,
    bytes_needed,
    download_state,
    fixed_arrays,
    room_arrays,
    tree_arrays,
    upload_state,
)
from citeweave.engines.cuda.parameters import DeviceDraws
from citeweave.engines.cuda.program import (
    MEASURE_ROWS,
    PACKED_BELOW,
    WARP,
    LaneGrouping,
    burst_rows,
    choose_grouping,
    plan_program,
    refuse_model,
)
from citeweave.engines.cuda.proposals import DeviceProposals, SlotSizes
from citeweave.engines.cuda.samples import DeviceSums
from citeweave.engines.threads.streams import next_key
from citeweave.engines.threads.workers import WorkerPool
from citeweave.errors import ParameterError, RunError

__all__ = ["CudaChain", "most_customers"]

_THREADS = 128
_TOPICS = 31
"""Index of the number of topics in use in the device's report; expected citations are at 0."""
_NEAR_ALONE = 4
"""Slots in the fast memory of a machine with one lane, which has no such memory: few, so that
tests cover the slots beyond it."""


_CITATIONS = slice(4, 7)
"""Indices of the tally of citations, as in the kernels."""
_REPAIRED_WORDS = (8,)
"""Indices of the tally that are the same in all parts of a chain."""
POSTERIOR_EVERY = 50
"""Iterations between measurements of the log posterior, after the first few."""


class CudaChain(Chain):
    """A chain of snapshot sweeps on a GPU.

    The sweeps are those of `SnapshotChain`: the same snapshot, the same rounds, the same random
    streams, the same repair of tables. Some weights are rounded differently, so the two agree in
    distribution, and token by token until a draw falls between two roundings. On one GPU the bytes
    of a run depend only on the seed and ``rounds``.

    Parameters
    ----------
    spec, data, settings, seed, stream
        As in `Chain`; every level must share one concentration, and words must not choose
        their author.
    threads : int
        Host threads that compute the log posterior.
    rounds : int
        Snapshots per sweep.
    device : Device or None
        Device that kernels run on; by default the current GPU.
    sparse : bool or None
        Whether sweeps visit only the topics that matter to a document, and propose others; by
        default this depends on the number of topics.
    """

    capabilities = Capabilities(
        SNAPSHOT, device="cuda", place="on the GPU", one_chain=True, refuses=refuse_model
    )

    def __init__(
        self,
        spec: ModelSpec,
        data: Data,
        settings: ChainSettings,
        *,
        seed: int,
        stream: int = 0,
        threads: int = 1,
        rounds: int = 1,
        device: Device | None = None,
        sparse: bool | None = None,
    ) -> None:
        if rounds < 1:
            raise ParameterError(
                f"A snapshot chain needs at least one round. Got rounds={rounds} instead."
            )
        self.capabilities.check(spec, settings.topics)  # before anything is compiled
        self._sums: DeviceSums | None = None
        self._ahead = False  # whether the device has moved on since the last download
        self._measurers = WorkerPool(threads)
        self.device: Device = CudaDevice() if device is None else device
        self.sparse = settings.topics >= SPARSE_FROM if sparse is None else sparse
        self.lists = self.sparse and self._keeps_lists(spec, data)
        """Whether the device stores counts of nodes as lists of topics."""
        self.compact_counts = self.lists
        self.proposals = DeviceProposals(self)
        self._plan_kernels(spec, data, settings)  # compiled while data are laid out
        super().__init__(spec, data, settings, seed=seed, stream=stream)
        if spec.citations is not None:
            check_citation_order(self.layout)
        self.rounds = min(rounds, max(self.part.all_documents, 1))
        self.repaired = np.zeros(2, np.int64)
        """Number of repaired tables so far: on the topic side and on the word side."""
        self.arrays: dict[str, Any] = {}
        self._prepare()
        self._draws = DeviceDraws(self)

    @classmethod
    def probe(cls) -> str:
        """Check that there is a GPU that can run the kernels; return its name and memory."""
        return CudaDevice().describe()

    @classmethod
    def open(cls, request: Request) -> Self:
        """Create a chain on the current GPU, not yet started."""
        spec, data, settings, seed, stream, threads, rounds, _ = request
        return cls(spec, data, settings, seed=seed, stream=stream, threads=threads, rounds=rounds)

    def _plan_kernels(self, spec: ModelSpec, data: Data, settings: ChainSettings) -> None:
        """Choose how work is divided, and start compiling the program."""
        self._threads = self.device.size(1, _THREADS)[1]
        # a machine with one thread has one lane
        self._grouping = LaneGrouping(1, 1, 1, 1, near_slots=_NEAR_ALONE if self.sparse else 0)
        if self._threads > 1:
            self._grouping = choose_grouping(settings.topics, sparse=self.sparse)
        self._program = plan_program(
            spec,
            topics=settings.topics,
            words=data.n_words,
            grouping=self._grouping,
            packed=self._most_customers(data) < PACKED_BELOW,
            most_self=MOST_SELF if settings.self_citations == LEFT_OUT else 0,
            shared=len(data.servers.group) > 0,
            compact=self.lists,
        )
        self.device.prepare(self._program)

    def _keeps_lists(self, spec: ModelSpec, data: Data) -> bool:
        """Return whether sweeps over slots store counts of nodes as lists of topics.

        Not where authors share papers, nor where citations reach below the first level of papers.
        """
        below_papers = len(spec.topic_side) - 1 - spec.below_citations - spec.n_shared
        return len(data.servers.group) == 0 and (spec.citations is None or below_papers <= 0)

    def _most_customers(self, data: Data) -> int:
        """Return an upper bound on the customers of a document's node."""
        return most_customers(data)

    def _prepare(self) -> None:
        """Create all arrays on the device."""
        device, topics, program = self.device, self.settings.topics, self._program
        grouping, threads = self._grouping, self._threads
        warp = min(WARP, threads)
        sweepers = grouping.threads // grouping.lanes
        citers = grouping.threads // grouping.of_citations().lanes
        fixed, self._word_rounds, self._cite_rounds = fixed_arrays(
            self, self.rounds, lists=self.lists
        )
        many = 2048 if topics <= 64 else 512 if topics <= 512 else 256
        self._blocks = device.size(many, threads)[0]
        self._word_shared = self._cite_shared = self.count_shared = self.burst_shared = 0
        if program.rows_shared:
            self._word_shared = program.word_bytes(sweepers)
            self._cite_shared = (
                4 * program.row_floats(program.cite_rows, program.cite_lanes) * citers
            )
            self.count_shared = 4 * program.row_floats(MEASURE_ROWS, warp) * (threads // warp)
            self.burst_shared = 4 * program.row_floats(burst_rows(topics), warp) * (threads // warp)
        if self.sparse:
            word_slots = SlotSizes.of_words(self.spec, topics, grouping)
            cite_slots = SlotSizes.of_citations(self.spec, topics, grouping.of_citations())
            self._word_shared = word_slots.near_bytes * sweepers
            self._cite_shared = cite_slots.near_bytes * citers
        resident = device.resident_blocks
        self._word_blocks = resident("sweep_words", grouping.threads, self._word_shared)
        sweeping = max(self._word_blocks * sweepers, self._blocks * (threads // warp))
        if self.spec.citations is not None:
            self._cite_blocks = resident("sweep_citations", grouping.threads, self._cite_shared)
            sweeping = max(sweeping, self._cite_blocks * citers)
        far = 0
        if self.sparse:
            far = word_slots.far_floats * self._word_blocks * sweepers
            if self.lists:  # rows that groups have at hand while they change them
                far = max(far, 2 * topics * self._blocks * (threads // warp))
            if self.spec.citations is not None:
                far = max(far, cite_slots.far_floats * self._cite_blocks * citers)
        self.node_segment = fixed.pop("node_segment")
        room = room_arrays(self, self._program, sweeping=sweeping, far_floats=far)
        self._check_memory(bytes_needed(self, self.host, fixed, room))
        for name, array in fixed.items():
            self.arrays[name] = device.put(array if array.size else np.zeros(1, array.dtype))
        for name, (size, kind) in room.items():
            self.arrays[name] = device.zeros(max(size, 1), kind)
        upload_state(device, self.arrays, self.host)
        device.bind(self.arrays)
        self.run("mark_runs")

    def _check_memory(self, needed: int) -> None:
        """Refuse a chain that does not fit into GPU memory, before anything is copied."""
        free = self.device.free_bytes()
        if needed > free:
            topics = max(int(self.settings.topics * free / needed), 1)
            raise RunError(
                f"The chain needs {needed / 1e9:.1f} GB on the GPU, which has {free / 1e9:.1f} GB "
                f"free; about {topics} topics would fit. Use fewer topics, fewer chains at a "
                "time, or threads."
            )

    def keep_sample(self, sums: Sums) -> None:
        """Add the posterior means of the current state to the device's sums.

        The first sample initializes them from ``sums``; `collect_samples` copies them back.
        """
        if self._sums is None:
            self._sums = DeviceSums(self, sums)
        if self.lists:
            self.proposals.mark()
        self._sums.add()

    def drop_samples(self) -> None:
        """Discard the device's sums; the next sample starts from those of the host."""
        self._sums = None

    def collect_samples(self, sums: Sums) -> None:
        """Copy the device's sums over all samples so far into those of the host."""
        if self._sums is not None:
            self._sums.collect(sums)

    def close(self) -> None:
        """Release the memory on the device."""
        self.arrays.clear()
        self._sums = None
        self._measurers.close()

    @property
    def state(self) -> State:
        """The state on the host, brought up to date; change it only through `restore`."""
        if self._ahead:
            download_state(self.device, self.arrays, self.host)
            self._ahead = False
        return self.host

    @state.setter
    def state(self, state: State) -> None:
        self.host = state

    @property
    def clock(self) -> np.ndarray:
        """The host's clock: iterations done, and whether citations are used yet."""
        return self.host.clock

    def start_at_random(self) -> None:
        """Assign random topics to all tokens, and one table per restaurant to each dish."""
        self._open_tables(next_key(self.host.random), given=False)

    def start_at_topics(self, topics: np.ndarray) -> None:
        """Do the same for given topics, in the order of the layout."""
        self.host.assignments.topic[:] = topics
        self._open_tables(np.uint64(0), given=True)

    def _open_tables(self, key: np.uint64, *, given: bool) -> None:
        self.upload()
        self._ahead = True
        self.run("start_words", key, int(given), shared=self.count_shared)
        self._repair_nodes()
        self._merge_words()
        self._repair_words()

    def restore(self, state: State, extra: Mapping[str, np.ndarray] = NO_EXTRA) -> None:
        """Continue from a stored state of any engine, with its proposal tables, if any."""
        self._ahead = False  # the state on the device is discarded
        super().restore(state, extra)
        self.upload()
        self.proposals.restore(extra)

    def freeze(self) -> None:
        """Stop updating the proposal tables."""
        self.proposals.schedule.frozen = True

    def extra_state(self) -> dict[str, np.ndarray]:
        """Copy the proposal tables, which a chain needs to continue.

        They are built from earlier counts. Without them, a chain builds new ones from the given
        state, which is equally valid but leads to different bytes.
        """
        return self.proposals.export()

    def upload(self) -> None:
        """Copy the host's state to the device."""
        self._ahead = False
        self.proposals.forget()
        upload_state(self.device, self.arrays, self.host)
        self._draws.read_levels()
        self._repair_words()  # without changes, it only updates the cached weights

    def run(
        self, name: str, *args: Any, shared: int = 0, blocks: int = 0, threads: int = 0
    ) -> None:
        """Launch a kernel over all nodes, or with the given size."""
        size = self.device.size(blocks or self._blocks, threads or self._threads)
        self.device.launch(name, *size, shared, *args)

    def prepare_sweeps(self) -> None:
        """Build proposals if they are due, and the sums of the citation likelihood."""
        if self.sparse:
            self.proposals.before_iteration()
        if self.network_on:
            self._draws.weigh_again()
        self.run("count_faults", int(self.network_on))  # in what the sweeps are about to read

    def draw_concentrations(self) -> None:
        """Draw the concentrations of all levels, topic side root first."""
        self._draws.draw_concentrations()

    def draw_propensities(self) -> None:
        """Draw all lambda+, then lambda-, then lambdaT, and update P, M and E."""
        self._draws.draw_propensities()

    def measure(self) -> StepReport:
        """Download the tallies since the last step, and compute the log likelihood."""
        if self.network_on and not self.settings.sample_propensities:
            self._draws.weigh()
        self.run("measure_words", shared=self.count_shared)
        words = len(self.spec.topic_side) + 3  # their range of ``node_value``
        self._draws.add_up(words, words + 1)
        totals, counts = self._draws.take_totals("tally", counts_alike=_REPAIRED_WORDS)
        tally = [int(x) for x in counts]
        self.repaired += tally[7:9]
        check_counted(self, tally)
        report = self.device.download(self.arrays["report"])
        return StepReport(
            log_likelihood=float(totals[words]),
            topics=int(report[_TOPICS]),
            rate=float(report[0]) if self.network_on else float("nan"),
            words=tally[:4],
            citations=tally[_CITATIONS],
        )

    def log_posterior(self, rate: float) -> float:
        """Return the joint log density of the current state, computed on the host at intervals.

        Downloading the state of a large corpus takes longer than an iteration.
        """
        done = self.iteration + 1
        if done > POSTERIOR_EVERY // 10 and done % POSTERIOR_EVERY:
            return float("nan")
        return self._posterior(self.state, rate, self._measurers)

    def concentrations(self) -> tuple[float, ...]:
        """Return the mean concentration of each level; the host draws them."""
        return self._draws.levels()

    def draw_self_citations(self) -> None:
        """Propose one more or one fewer self-citation to the papers of one round, in turn."""
        self._ahead = True
        key, turn = next_key(self.host.random), self.iteration % self.rounds
        self.run("draw_self_citations", key, turn, self.rounds)
        self._repair_nodes()
        self._draws.weigh()

    def sweep_words(self) -> None:
        """Resample each token once; the documents of a round use the same snapshot."""
        self._ahead = True
        for round_ in range(self.rounds):
            if self.network_on and round_ > 0:
                self._draws.weigh()
            if self.sparse:
                self.proposals.before_words()
            key = next_key(self.host.random)
            first, last = (int(x) for x in self._word_rounds[round_ : round_ + 2])
            self.device.clear(self.arrays["counter"])
            self.run(
                "sweep_words",
                key,
                first,
                last,
                int(self.network_on),
                shared=self._word_shared,
                blocks=self._word_blocks,
                threads=self._grouping.threads,
            )
            self._repair_nodes()
            self._merge_words()
            self._repair_words()
        if self.network_on:
            self._draws.weigh()

    def _merge_words(self) -> None:
        """Sum changes of the word side over all parts, if there are several."""

    def switch_network_on(self) -> None:
        """Assign initial topics to citations, with rates scaled to the observed number."""
        self._ahead = True
        scale = np.ones(self.settings.topics)
        self.device.upload(self.arrays["topic_scale"], scale)
        self._draws.weigh()
        expected = float(self.device.download(self.arrays["report"])[0])
        made = int(self.exchange.sum(np.array([self.part.n_citations]))[0])
        scale *= max(made, 1) / max(expected, 1e-12)
        self.device.upload(self.arrays["topic_scale"], scale)
        self._walk_citations(starting=True)
        self.device.clear(self.arrays["tally"][_CITATIONS])  # counts moves only, not the start
        self.host.clock[1] = 1
        if self.settings.sample_propensities:
            self._draws.draw_propensities()

    def sweep_citations(self) -> None:
        """Resample the topic of each citation once; those of a round use the same snapshot."""
        self._walk_citations(starting=False)

    def _walk_citations(self, *, starting: bool) -> None:
        for round_ in range(self.rounds):
            if round_ > 0:
                self._draws.weigh()
            self._before_citations()
            if self.sparse:
                self.proposals.before_citations()
            key = next_key(self.host.random)
            first, last = (int(x) for x in self._cite_rounds[round_ : round_ + 2])
            self.device.clear(self.arrays["counter"])
            self.run(
                "sweep_citations",
                key,
                first,
                last,
                int(starting),
                shared=self._cite_shared,
                blocks=self._cite_blocks,
                threads=self._grouping.threads,
            )
            self._merge_citations()
            self.run(
                "add_moves", len(self.layout.citing), self.part.n_citations, round_, self.rounds
            )
            for level in range(self.citation_level, self.spec.n_shared - 1, -1):
                self.run("repair_documents", level, round_, self.rounds)
            if len(self.layout.server):
                self.run("give_up_tables")
            self._repair_nodes()

    def _before_citations(self) -> None:
        """Update copies from other parts, if there are any."""

    def _merge_citations(self) -> None:
        """Exchange the moves of citations between parts, if there are several."""

    def sweep_authors(self) -> None:
        """Draw on the host who serves the tables of shared papers."""
        state = self.state
        if self.network_on:
            rebuild_exponent(
                self.layout, state.topics, state.parameters, self.citation_level, self.exponent
            )
        self.draw_authors(self.exponent)
        upload_state(self.device, self.arrays, state, SERVED)
        self._ahead = True  # the next draws are made on the device
        self.proposals.spoil()
        if self.network_on:
            self._draws.weigh()

    @cached_property
    def exponent(self) -> Exponent:
        """Sums of the citation likelihood on the host, for draws made there."""
        n_nodes = len(self.layout.parent) if self.spec.citations is not None else 1
        return new_exponent(n_nodes, self.settings.topics, len(self.spec.topic_side))

    def parents_moved(self) -> None:
        """Update the device's tree with the current parents of papers."""
        arrays = tree_arrays(self)
        self.node_segment = arrays.pop("node_segment")
        for name, array in arrays.items():
            self.device.upload(self.arrays[name], array)

    def _repair_nodes(self) -> None:
        """Add changes to the nodes above documents, from the lowest level up."""
        self.proposals.spoil()
        for level in range(self.spec.n_shared - 1, 0, -1):
            self._repair_level(level)
        self.run("sum_root", shared=4 * self.settings.topics, blocks=264, threads=256)
        self.add_parts("root_sum")
        self.run("set_root", blocks=1, threads=32)

    def _repair_level(self, level: int) -> None:
        """Add changes to the nodes of a level that the chain owns."""
        self.run("repair_nodes", level)

    def complete_listed(self) -> None:
        """List nodes of other parts that the chain has copies of as they do, if there are any."""

    def complete_weights(self, level: int) -> None:
        """Add what nodes of a level inherit from children in other parts, if there are any."""

    def add_parts(self, name: str) -> None:
        """Sum an array of integers over all parts, in place, if there are several."""
        if self.exchange.size > 1:
            array = self.arrays[name]
            self.device.upload(array, self.exchange.sum(self.device.download(array)))

    def propensity_means(self) -> tuple[np.float64, np.float64]:
        """Return the means of lambda+ and lambda- over all documents."""
        threads = self.device.size(1, 256)[1]
        self.run("sum_propensities", shared=8 * threads, blocks=132, threads=256)
        totals, _ = self._draws.take_totals("won")
        cite, cited = totals[len(self.spec.topic_side) + 4 :] / self.part.all_documents
        return cite, cited

    def _repair_words(self) -> None:
        for name in ("word_total_customers", "word_total_tables", "background_totals"):
            self.device.clear(self.arrays[name])
        self.run("repair_words", shared=8 * self.settings.topics, blocks=528)


def most_customers(data: Data) -> int:
    """Return an upper bound on a document's customers: words, citations made and received."""
    most = int(np.diff(data.offsets).max(initial=0)) + 2 * MOST_SELF
    for ends in (data.citing, data.cited):
        most += int(np.bincount(ends).max(initial=0))
    return most
