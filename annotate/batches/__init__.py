"""Batches: what they are made of, their steps from draft to closed, how far they are, and criteria that change."""
