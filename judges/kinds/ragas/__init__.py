"""RAGAS judges: seven metrics of the RAGAS library, asked through our own models.

The library is optional (`make run WITH=ragas`) and takes seconds to load, so it is imported by whoever opens a judge,
and by nobody else: judges.kinds.ragas.adapters and what that imports.
"""

from judges.kinds.ragas.kind import KIND

__all__ = ["KIND"]
