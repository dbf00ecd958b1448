"""A whole Cognee with Mithril in front, on one machine and without a model of your own: the demo and the e2e tests."""
