"""Engines that run the Markov chains of a model: one contract, one registry, one folder each.

- `core`: shared by all of them: arrays, counts, draws of parameters, the order of a step
- `dense`: weighs every topic for every token, one token after the other; the reference
- `slots`: the same posterior over the few topics that matter to a document, for many topics
- `threads`: sweeps over many documents at a time, from snapshots
- `cuda`: the same on an NVIDIA GPU
- `protocol`: the interface of an engine; `registry`: the available engines, and the choice
"""
