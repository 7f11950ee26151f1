"""What is known of a document's names: definitions in it, and what contexts declare."""
