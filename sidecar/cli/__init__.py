"""The command line: one module per command; only here is anything printed."""
