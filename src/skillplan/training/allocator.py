"""Keeping freed memory in the process, so that every update finds its buffers where the last one left them."""

import ctypes

# From glibc's malloc.h.
_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3

_MAPPED_ABOVE = 2**30  # bytes; what is smaller comes from the heap
_KEPT_FREE = 2**31 - 1  # bytes at the end of the heap that are not given back, the most that can be said


def keep_freed_memory() -> bool:
    """Tell the C library to reuse freed blocks instead of handing them back; whether it listened.

    XLA allocates the buffers of a computation on CPU at each call. By default large blocks are mapped and unmapped
    every time, and the page faults took a quarter of an update. Only glibc has this switch; elsewhere nothing happens.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return bool(mallopt(_MMAP_THRESHOLD, _MAPPED_ABOVE)) and bool(mallopt(_TRIM_THRESHOLD, _KEPT_FREE))
