"""What runs on the other side of the pipe. Sent there as text; see `engine.run.servers`."""
