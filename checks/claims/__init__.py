"""Deciding what documents claim: enclosures, identities, expectations; one verdict per link."""
