"""One file a command: read, one flow, a report. No printing."""
