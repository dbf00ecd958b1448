"""How well the judges tell poison from memory, on rows that nobody here wrote and on our own stories."""
