"""The store in PostgreSQL with pgvector: for a team with many repositories and one place to ask."""
