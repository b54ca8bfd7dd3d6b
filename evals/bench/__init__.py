"""Benchmarks: each prints figures that were measured in that run."""
