"""A chain whose steps are made by workers.

The driver holds neither words nor counts, and no plans of parts, which workers make themselves. It
divides the documents, directs the workers, and remembers a *point* to which they can return (the
start, a given state, or a checkpoint that they wrote), with a log of the operations since. When a
worker fails, all return to the point and repeat these; since every draw depends only on the state,
the result is the same to the byte.
"""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from citeweave.engines.cluster.part_rooms import with_rooms
from citeweave.engines.cluster.partition import Division, divide, owned_rows
from citeweave.engines.cluster.state_parts import fill, fill_extra
from citeweave.engines.cluster.team import LostWorkerError, Team
from citeweave.engines.cluster.worker import Recipe, Usage
from citeweave.engines.core.arrays import Array, Layout, Shape, State, flatten
from citeweave.engines.core.capabilities import CPU, CUDA, Capabilities
from citeweave.engines.core.chain import NO_EXTRA
from citeweave.engines.core.data import ChainSettings, Data, Info, Request
from citeweave.engines.core.estimates import Sums, empty_sums
from citeweave.engines.core.invariants import check_state
from citeweave.engines.core.propensities import degrees
from citeweave.engines.core.random import new_generator
from citeweave.engines.core.row_files import (
    RowMean,
    WrittenParts,
    peek,
    tokens_of,
    whole_shapes,
)
from citeweave.engines.core.setting_up import new_layout, new_shape, new_state
from citeweave.engines.core.spec import ModelSpec
from citeweave.engines.cuda.chain import CudaChain, most_customers
from citeweave.errors import ParameterError, RunError

__all__ = ["DividedChain", "refuse_undivided"]

_TRIES = 100
"""Number of times lost workers are replaced without progress before the run gives up."""


def refuse_undivided(spec: ModelSpec) -> str | None:
    """Return why a model cannot be divided between workers; None if it can."""
    advice = "Use another engine, of threads or of a GPU."
    if spec.words_choose_author:
        return f"In model {spec.name!r} words choose their author: it is not divided. {advice}"
    if spec.tables_choose_author:
        return f"All authors of a paper count: such a model is not divided. {advice}"
    if spec.n_document == 0:
        return f"Model {spec.name!r} has no level of documents: it is not divided. {advice}"
    own = [level.name for level in spec.topic_side[1:] if not level.shared_concentration]
    if own:
        return (
            f"Nodes of level {own[0]!r} have a concentration each: such a model is not divided. "
            "Give them a shared one, or use threads."
        )
    return None


class _Point(NamedTuple):
    """The point that workers can return to: a start, unless a state or a checkpoint is given."""

    spec: ModelSpec
    topics: Array | None = None
    """Initial topics of tokens; None for random ones."""
    state: State | None = None
    sums: Sums | None = None
    path: Path | None = None
    """A checkpoint."""
    with_sums: bool = True
    """Whether samples that were kept before the checkpoint count."""
    extra: Mapping[str, Array] = NO_EXTRA
    """What the chain needs in addition to the state."""


class DividedChain(ABC):
    """A chain of snapshot sweeps made by a team of workers.

    Parameters
    ----------
    spec, data, settings, seed, stream, rounds
        As in `SnapshotChain`. The workers read words that are on disk.
    threads : int
        Threads per worker.
    workers : int
        Number of workers, each with a part of the documents.
    device : str
        Device that each worker samples on: its cores ("cpu"), or a GPU ("cuda").
    """

    capabilities: ClassVar[Capabilities]

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
        workers: int = 1,
        device: str = CPU,
    ) -> None:
        if threads < 1 or rounds < 1:
            raise ParameterError(
                "A snapshot chain needs at least one thread and one round per sweep. "
                f"Got threads={threads}, rounds={rounds} instead."
            )
        self.capabilities.check(spec, settings.topics)
        if device == CUDA:
            CudaChain.capabilities.check(spec, settings.topics)
        bursts = spec.word_level("document-topic")
        staged = bursts is not None and settings.burst_from > 0
        self._last_spec = spec
        self._first_spec = spec.without(bursts.name) if bursts is not None and staged else spec
        self.spec = self._first_spec
        """The model of the current stage; phi' may join later."""
        self.settings = settings
        self._data = data
        known = settings.self_citations
        ends = degrees(data.citing, data.cited, self.n_documents, self_citations=known)
        n_parts = max(1, min(workers, self.n_documents))
        longest = most_customers(data) if device == CUDA else 0
        self._recipe = Recipe(spec, settings, seed, stream, threads, rounds, device, longest)
        self.division: Division = divide(data, ends, spec.n_shared, n_parts)
        """What each worker makes its plan from."""
        if self._recipe.sparse:
            self.division = with_rooms(self.division, spec, data, settings)
        self.device = device
        """Device that each worker samples on."""
        self._team: Team | None = None
        self._point: _Point | None = None
        self._given = False
        """Whether the workers are in the state that the point and the log lead to."""
        self._log: list[tuple[str, tuple[Any, ...]]] = []
        """Operations of the workers since the point, each with its arguments."""
        self._exported: list[dict[str, Any]] | None = None
        """Arrays of the state and sums of each part; None if they have changed since."""
        self._sums: Sums | None = None
        """The sums to which samples are added; the workers hold their values."""
        self._folder: Path | None = None
        self._done, self._network, self._frozen = 0, False, False
        self.recovered = 0
        """Number of times that lost workers were replaced."""

    @classmethod
    def probe(cls) -> str:
        """Check that the machine has what the engine needs; describe it in one line."""
        return ""

    @classmethod
    @abstractmethod
    def open(cls, request: Request) -> Self:
        """Open a chain, not yet started."""

    @abstractmethod
    def _new_team(self, division: Division, recipe: Recipe) -> Team:
        """Start workers, one per part."""

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return len(self._data.offsets) - 1

    @property
    def shape(self) -> Shape:
        """Levels of the model."""
        return new_shape(self.spec)

    @cached_property
    def layout(self) -> Layout:
        """Constant arrays of the whole chain, including words; created on first access."""
        return new_layout(self._last_spec, self._data)[0]

    @property
    def state(self) -> State:
        """Everything that the chain has drawn, assembled from the workers on access."""
        point = self._point
        if point is not None and point.state is not None and not self._log:
            return point.state
        generator = new_generator(self._recipe.seed, self._recipe.stream)
        lists = self._recipe.sparse
        state = new_state(
            self.spec, self._data, self.layout, self.settings, generator, compact=lists
        )
        if point is not None:
            fill(flatten(state, "state."), self.division, self._export())
        return state

    @property
    def iteration(self) -> int:
        """Iterations done."""
        return self._done

    @property
    def network_on(self) -> bool:
        """Whether citations are used yet."""
        return self._network

    def empty_sums(self) -> Sums:
        """Create empty sums; memory is allocated when samples are collected."""
        return empty_sums(
            self._last_spec,
            self.division.level_start,
            topics=self.settings.topics,
            words=self._data.n_words,
            documents=self.n_documents,
            citations=len(self._data.citing),
        )

    def start(self, topics: Array | None = None, categories: Array | None = None) -> None:  # noqa: ARG002
        """Assign an initial topic to each token; models with latent categories are refused."""
        self._go_on_from(_Point(self._first_spec, topics=topics), 0, network=False)

    def restore(self, state: State, extra: Mapping[str, Array] = NO_EXTRA) -> None:
        """Continue from a stored state; workers receive it before the next step."""
        bursting = len(state.assignments.burst_table) == self._data.offsets[-1]
        done, network = int(state.clock[0]), bool(state.clock[1])
        kept = extra if self._recipe.sparse else NO_EXTRA
        point = _Point(self._stage(bursting=bursting), state=state, extra=kept)
        self._go_on_from(point, done, network=network)

    def restore_from(self, path: Path, sums: Sums | None) -> None:
        """Continue from a checkpoint; each worker reads its own rows.

        ``sums`` are the sums to which samples are added from now on. They include the earlier
        samples, which the workers read; None to discard these.
        """
        found = peek(path)
        bursting = found.burst_rows == self._data.offsets[-1]
        spec = self._stage(bursting=bursting)
        point = _Point(spec, path=path, with_sums=sums is not None)
        self._go_on_from(point, found.iteration, network=found.network_on)
        self._sums = sums

    def _stage(self, *, bursting: bool) -> ModelSpec:
        return self._last_spec if bursting else self._first_spec

    def _go_on_from(self, point: _Point, done: int, *, network: bool) -> None:
        self._point, self._given, self._exported, self._sums = point, False, None, None
        self._log.clear()
        self.spec, self._done, self._network = point.spec, done, network
        self._frozen = False

    def extra_state(self) -> dict[str, Array]:
        """Copy what the chain needs in addition to its state to continue with identical bytes.

        With many topics, these are the proposal tables.
        """
        if not self._recipe.sparse or self._point is None:
            return {}
        return fill_extra(self.division, self._look("extra_state"))

    def freeze(self) -> None:
        """Freeze the proposal tables if there are many topics; nothing else adapts."""
        if self._recipe.sparse and not self._frozen:
            self._do("freeze")
            self._frozen = True

    def step(self) -> Info:
        """Advance the chain by one iteration on all workers; first add phi' if it is due.

        The workers add citations by themselves.
        """
        began = time.perf_counter()
        settings = self.settings
        if self.spec != self._last_spec and self._done >= settings.burst_from:
            self._do("join_bursts", self._last_spec)
            self.spec = self._last_spec
        networked = self.spec.citations is not None and self._done >= settings.network_from
        info: Info = self._do("step")[0]
        self._network = self._network or networked
        self._done = info.iteration
        if settings.debug:
            check_state(self.spec, self.layout, self.state)
        if self.spec != self._last_spec:
            info = info._replace(concentrations=(*info.concentrations, math.nan))
        return info._replace(seconds=time.perf_counter() - began)

    def keep_sample(self, sums: Sums) -> None:
        """Let the workers add the current state to their parts of the sums."""
        if self._sums is not sums:
            if self._sums is not None or sums.samples[0]:
                kept = sums if sums.samples[0] else None
                point = _Point(self.spec, state=self.state, sums=kept, extra=self.extra_state())
                self._go_on_from(point, self._done, network=self._network)
            self._sums = sums
        self._do("keep")

    def drop_samples(self) -> None:
        """Discard the samples kept so far."""
        self._sums = None
        if self._point is not None:
            self._do("drop")

    def collect_samples(self, sums: Sums) -> None:
        """Update the sums with those of the workers."""
        if self._sums is not sums:
            return
        found = self._export()
        if "sums.samples" in found[0]:
            fill(flatten(sums, "sums."), self.division, found)

    def lodge(self, folder: Path) -> None:
        """Set the folder that all workers must see, before anything is written there."""
        self._folder = folder

    def write_parts(self, folder: Path) -> WrittenParts:
        """Let each worker write its part of the state and the sums into a folder."""
        found = self._look("write", folder)
        files = [file for file, _, _ in found]
        for file in files:
            self._check_visible(folder / file.name, file.bytes)
        shapes = whole_shapes(
            [shapes for _, shapes, _ in found],
            document=self.n_documents,
            node=int(self.division.level_start[-1]),
            shared_node=int(self.division.level_start[self.spec.n_shared]),
            citation=len(self._data.citing),
            token=int(self._data.offsets[-1]),
        )
        return WrittenParts(found[0][2], shapes, files)

    def write_means(self, folder: Path, wanted: Sequence[RowMean]) -> tuple[dict[str, str], Sums]:
        """Let the workers write means of rows; return checksums by file, and the remaining sums.

        Their array of nodes contains only the root, and other arrays with rows are empty.
        """
        found = self._look("write_means", folder, wanted)
        files = {name: crc for part, _ in found for name, crc in part.items()}
        for name in files:
            self._check_visible(folder / name)
        rest = empty_sums(
            self._last_spec,
            np.minimum(self.division.level_start, 1),
            topics=self.settings.topics,
            words=self._data.n_words,
            documents=0,
            citations=0,
        )
        shared = found[0][1]
        for name, array in rest._asdict().items():
            if array.size:
                array[...] = shared[f"sums.{name}"]
        return files, rest

    @staticmethod
    def _check_visible(path: Path, size: int | None = None) -> None:
        if not path.is_file() or size not in {None, path.stat().st_size}:
            raise RunError(
                f"The file '{path}' that a worker wrote is not there: the run must be in a folder "
                "that all nodes share under the same name."
            )

    def go_back_to(self, path: Path) -> None:
        """Set a checkpoint just written as the point to which workers return."""
        self._point = _Point(self.spec, path=path)
        self._log.clear()

    def usage(self) -> list[Usage]:
        """Report the resources that each worker has used since it was started."""
        return [] if self._team is None else self._team.call("usage")

    def close(self) -> None:
        """Release the workers."""
        team, self._team = self._team, None
        self._given = False
        if team is not None:
            team.close()

    def _export(self) -> list[dict[str, Any]]:
        """Return the arrays of the states and sums of all parts."""
        if self._exported is None:
            self._exported = self._look("export")
        return self._exported

    def _look(self, what: str, *arguments: Any) -> list[Any]:
        """Call a method of all workers that does not change their state."""
        return self._surely(lambda team: self._ask(team, what, *arguments))

    def _do(self, what: str, *arguments: Any) -> list[Any]:
        """Let the workers perform an operation, and repeat it if one of them is lost."""
        self._exported = None
        found = self._surely(lambda team: self._ask(team, what, *arguments))
        self._log.append((what, arguments))
        return found

    def _ask(self, team: Team, what: str, *arguments: Any) -> list[Any]:
        """Call a method of all workers with the same arguments."""
        return team.call(what, [arguments] * self.division.parts)

    def _go_back(self, team: Team) -> None:
        """Return the workers to the point, and repeat the operations of the log."""
        point = self._point
        if point is None:
            raise RunError("A chain must be started or restored before its first step.")
        if self._folder is not None:
            self._ask(team, "see", self._folder)
        if point.path is not None:
            self._ask(team, "read", point.spec, point.path, point.with_sums)
        elif point.state is not None:
            whole = map(team.share, (point.state, point.sums, point.extra))
            self._ask(team, "restore", point.spec, *whole)
        else:
            own = (_topics_of(self.division, p, point.topics) for p in range(self.division.parts))
            team.call("begin", [(point.spec, topics) for topics in own])
        for what, arguments in self._log:
            self._ask(team, what, *arguments)

    def _surely(self, work: Callable[[Team], list[Any]]) -> list[Any]:
        """Call a function with the team; if a worker is lost, replace it and start over."""
        if self._team is None:
            self._team = self._new_team(self.division, self._recipe)
        team = self._team
        lost = False
        for _ in range(_TRIES):
            try:
                if lost:
                    self.recovered += 1
                    team.replace_lost()
                if not self._given:
                    self._go_back(team)
                    self._given = True
                return work(team)
            except LostWorkerError:
                lost, self._given = True, False
        raise RunError(
            f"Workers ended {_TRIES} times without completing an iteration, most likely because "
            "memory ran out: give them more memory, or use more workers. What was saved is intact; "
            "continue with `citeweave resume RUN`."
        )


def _topics_of(division: Division, p: int, topics: Array | None) -> Array | None:
    """Return the given topics of a part's own tokens, in corpus order."""
    if topics is None:
        return None
    rows = owned_rows(division, p)
    own: Array = topics[tokens_of(rows.token_start, rows.token_count)]
    return own
