"""Coverage-guided fuzzing of everything that reads what others wrote: ``python -m evals.bench.fuzz``."""
