"""A pool over a Dask cluster, for `viva grade --on`."""
