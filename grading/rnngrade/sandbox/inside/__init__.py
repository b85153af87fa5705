"""What runs inside the sandbox: it is copied there, beside what `rnncourse` is there, and imports nothing else."""
