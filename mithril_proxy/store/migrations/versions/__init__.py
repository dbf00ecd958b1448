"""One module a schema. A module that was released is never changed."""
