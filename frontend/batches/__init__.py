"""Batches: new ones, their board, their tasks, known answers."""
