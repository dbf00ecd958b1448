"""Mithril for agents that speak MCP: remember and recall through the firewall, and ask why a write was held.

The tools call the data plane of this process with the caller's own key (`mithril_proxy.client`), so that an agent
meets the same chain over MCP as over HTTP. Operators get other tools, and only with a token that may review.
"""
