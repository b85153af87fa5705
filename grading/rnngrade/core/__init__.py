"""What all rooms stand on: a desk's folder, its lock, records, tables, HTML of text, errors that are one sentence."""
