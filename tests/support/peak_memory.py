"""How much memory this process has held."""


def peak_memory_kib() -> int:
    """The most that this process has held so far; 0 where nothing says it."""
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
