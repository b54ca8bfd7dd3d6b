"""Agents' sessions: kept losslessly, addressed to the byte, and read without NumPy or a model."""
