"""From documents that people already have to records: each importer reads a folder and says what it decided.

``adr`` is the door. ``markdown``, ``rst`` and ``kep`` turn one file into a ``Page`` (title, fields, prose);
``status``, ``dates`` and ``relations`` read pages; ``naming`` gives ids; ``yamltext`` writes the record.
Only ``files`` touches the disk.
"""
