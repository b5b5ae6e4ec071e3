"""Las capas. Cada una en su archivo; se importan desde allí."""
