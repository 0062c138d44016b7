"""Engines that run the Markov chains of a model: one contract, one registry, a folder each.

- `core`: what all of them share: arrays, counts, draws of parameters, the order of a step
- `dense`: every topic weighed for every token, one after the other; the reference
- `slots`: the same posterior over the few topics that matter to a document, for many topics
- `threads`: sweeps over many documents at a time, from snapshots
- `cuda`: the same on an NVIDIA GPU
- `protocol`: what an engine offers; `registry`: which there are, and which one is chosen
"""
