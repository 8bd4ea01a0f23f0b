"""An annotator's work: the queue, the labelling loop, and tasks that move from one person to another."""
