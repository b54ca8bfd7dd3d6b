"""Records as plain pages for a host that serves files: no server, no script needed to read them.

``build`` puts the site together, ``view`` says what a page shows of a record, ``drawing`` draws who overturned whom.
HTML, colours and type are those of `sidecar explore` (``sidecar.web``).
"""
