"""What labels come to: which of them count, known answers, and the rule that makes verdicts of them."""
