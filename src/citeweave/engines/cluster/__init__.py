"""Snapshot sweeps divided between several processes: one computer's, or those of a Ray cluster."""
