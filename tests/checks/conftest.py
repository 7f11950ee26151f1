"""Its folder is where tests of all kinds of checks import their helpers from."""
