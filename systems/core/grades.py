"""How relevant a document is to a question: whole numbers from 0, which is not at all."""

MAX_GRADE = 1_000
