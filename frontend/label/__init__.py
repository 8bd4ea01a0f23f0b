"""The labelling workspace, and what an annotator has labelled and learned."""
