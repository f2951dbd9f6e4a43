"""What this plugin adds: grading on a Dask cluster."""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from viva.hooks import hookimpl

if TYPE_CHECKING:
    from viva.pipeline.remote_place import RemotePlace, RemoteRequest


@hookimpl
def viva_pool(request: "RemoteRequest") -> "AbstractContextManager[RemotePlace]":
    """Return the cluster; a place that is none is an error."""
    from viva.plugins.cluster.cluster_place import open_cluster

    return open_cluster(request)
