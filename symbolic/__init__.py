"""The mathematics: expressions of random arrays, rules, Gaussian moments, blocks, printers."""
