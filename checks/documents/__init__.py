"""Finding mathematics in documents: spans with exact places, comments for us, problems."""
