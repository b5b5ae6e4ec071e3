"""The only room that starts processes: warm servers, sandboxed children, limits, the wire."""
