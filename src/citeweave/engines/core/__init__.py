"""What all engines share: the model, its state, and the mathematics of one node."""
