"""The version of the package, which also the modules below the public ones name."""

__version__ = "0.1.0.dev0"
