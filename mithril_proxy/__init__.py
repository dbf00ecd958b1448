"""Mithril: a firewall for AI-agent memory, in front of a Cognee server."""

__version__ = "0.1.0"
