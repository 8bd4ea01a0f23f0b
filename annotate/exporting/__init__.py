"""Ground truth out: verdicts as rows, one writer per format, numbered releases with a manifest."""
