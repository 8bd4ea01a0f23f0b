"""Experiments: versions that are compared with a baseline by a rule that was written down before figures."""
