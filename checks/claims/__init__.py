"""Deciding what documents claim: enclosures, identities, expectations; one verdict per link.

Its packages import one another in one direction only: `values` <- `declarations` <- `equations` <-
`expectations` <- `links`. The modules beside them run these over documents and claims.
"""
