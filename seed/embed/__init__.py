"""Embedders: the shipped model, hub models by leave, the second model for other languages, a toy for tests."""
