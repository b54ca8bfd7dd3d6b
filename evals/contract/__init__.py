"""The memory contract (docs/memory-contract.md) as clauses that any provider can be run through."""
