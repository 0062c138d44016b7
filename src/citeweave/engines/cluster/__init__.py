"""Snapshot sweeps divided between processes, on one computer or on a Ray cluster."""
