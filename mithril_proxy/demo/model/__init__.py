"""A small deterministic stand-in for a language model: embeddings, structured output and plain answers."""
