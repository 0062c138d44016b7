"""The reference engine, which computes the weight of every topic for one token at a time."""
