"""A judge version for use elsewhere: as a file, and as code for RAGAS, DeepEval and MLflow."""
