"""Starts Open WebUI, as its own program does, with an empty vector store. Runs in its environment.

The small set of requirements has no vector store, and without any Open WebUI does not start, or says
that it could not delete a file although it did. Everything else is unmodified.

launch.py <host> <port>
"""

import os
import sys
import types

STORE = "weaviate"


class EmptyStore:
    """Holds nothing and finds nothing."""

    def has_collection(self, *_arguments, **_named):
        return False

    def __getattr__(self, _name):
        return lambda *_arguments, **_named: None


def main() -> None:
    module = types.ModuleType(STORE)
    module.WeaviateClient = EmptyStore
    sys.modules[f"open_webui.retrieval.vector.dbs.{STORE}"] = module
    os.environ["VECTOR_DB"] = STORE
    os.environ["FROM_INIT_PY"] = "true"

    import open_webui.retrieval.vector.factory as factory

    factory.VECTOR_DB_CLIENT = EmptyStore()

    import open_webui

    open_webui.serve(host=sys.argv[1], port=int(sys.argv[2]))


if __name__ == "__main__":
    main()
