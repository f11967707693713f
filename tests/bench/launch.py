"""Runs a command once and says what it took: `python -I -S launch.py COMMAND…`; a line of JSON on stdout.

A process of its own, as small as a Python can be: a child counts the memory of the one that started it as its
own peak. Times are those of the machine's one monotonic clock, so that other processes can compare theirs.
"""

import os
import sys
import time

started = time.monotonic()
child = os.posix_spawn(
    sys.argv[1],
    sys.argv[1:],
    os.environ,
    file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)],
)
_, status, used = os.wait4(child, 0)
wall = time.monotonic() - started
megabyte = 2**20 if sys.platform == "darwin" else 2**10
print(
    f'{{"started": {started}, "wall": {wall}, "cpu": {used.ru_utime + used.ru_stime}, '
    f'"peak": {used.ru_maxrss / megabyte}, "status": {os.waitstatus_to_exitcode(status)}}}'
)
