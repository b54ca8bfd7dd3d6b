"""Set a repository up: what `sidecar init` finds, what it would write, how it is written and taken back."""
