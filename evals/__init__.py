"""Question sets, metrics, the recall gate and benchmarks."""
