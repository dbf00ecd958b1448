"""The audit, told to other systems: syslog and a signed webhook, in the words of OCSF.

A task of `mithril serve` reads the audit behind a cursor that stands in the database, so that nothing is missed over a
restart and no write ever waits for a receiver.
"""
