"""What a submission says, read and never run: intake, what an answer may not call, and who is alike."""
