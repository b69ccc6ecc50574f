"""The pages that people watch, live, and the metrics of what processes share."""
