"""Qualifications: annotators are trained on samples with known answers, tested on others, and then work (decision 47).

Rounds, the training and the test, are batches, so that their tasks are labelled, kept and handed out as all others.
How a qualification is made and what admins do with people in it is annotate.batches.qualifications.
"""
