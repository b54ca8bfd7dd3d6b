"""From Git and transcripts to the store: reads records from a commit and publishes snapshots."""
