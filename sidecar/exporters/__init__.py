"""From a snapshot to files for others: each exporter takes the records that the one door lets through.

``collect`` opens the door, ``page`` writes one record as Markdown, ``markdown``, ``okf`` and ``document`` are the
formats, ``folder`` is the only one that touches the disk.
"""
