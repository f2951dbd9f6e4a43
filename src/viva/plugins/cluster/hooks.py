"""What this plugin adds: grading on a Dask cluster."""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from viva.hooks import hookimpl

if TYPE_CHECKING:
    from viva.pipeline.remote_place import RemotePlace, RemoteRequest


@hookimpl
def viva_pool(request: "RemoteRequest") -> "AbstractContextManager[RemotePlace]":
    """Return the cluster at that address; another kind of place is refused with a sentence."""
    from viva.model.extras import missing_library

    try:
        from viva.plugins.cluster.cluster_place import open_cluster
    except ImportError as error:
        raise missing_library("--on needs", error.name, "cluster") from None
    return open_cluster(request)
