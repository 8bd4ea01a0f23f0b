"""What systems are asked: questions come in from files, and test sets are frozen."""
