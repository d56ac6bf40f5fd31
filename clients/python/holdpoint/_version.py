"""The version of this client, the same as that of the binary that carries it."""

VERSION = "0.1.0"
