"""The laws: one file per family, one function per law, found by the decorator `law`."""
