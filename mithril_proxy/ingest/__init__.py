"""Connectors: what a team has written elsewhere, brought into memory through the same firewall as everything else.

A reader gives records; a run sends them to a data plane in batches and keeps a journal, so that it can be stopped.
"""
