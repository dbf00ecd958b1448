"""`python -m mithril_proxy` is `mithril`."""

from mithril_proxy.cli import main

if __name__ == "__main__":
    main()
