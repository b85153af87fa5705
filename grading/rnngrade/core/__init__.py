"""What all rooms stand on: a desk's folder and its lock, records, tables, and errors that are one sentence."""
