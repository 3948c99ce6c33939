"""The version, kept in this one place."""

VERSION = "0.1.0"
