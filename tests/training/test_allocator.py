import platform
import resource

import numpy as np

from skillplan.training.allocator import keep_freed_memory


def test_a_freed_block_is_used_again_without_new_pages():
    listened = keep_freed_memory()
    assert listened == (platform.libc_ver()[0] == "glibc")

    def faults():
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

    def fill():
        np.full(2**23, 1.0)  # 64 MiB: mapped anew each time by default

    fill()
    before = faults()
    for _ in range(5):
        fill()
    if listened:
        assert faults() - before < 5 * 2**26 / 4096 / 10
