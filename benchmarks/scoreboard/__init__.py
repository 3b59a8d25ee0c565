"""A scoreboard of loaders: the same data packed, read and resumed by each of them.

`python benchmarks/scoreboard OUT` runs it; `docs/results/scoreboard.md` defines the measurements and the twelve resume
cases.
"""
