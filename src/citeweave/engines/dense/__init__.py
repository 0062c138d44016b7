"""The reference engine: every topic is weighed for every token, one after the other."""
