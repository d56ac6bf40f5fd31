"""Says when it was where: how long a stop takes to be seen."""

import time

for turn in range(40):
    stamp = time.time() * 1000
    passed = stamp
