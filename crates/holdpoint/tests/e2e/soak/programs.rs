//! The programs that are debugged meanwhile.

/// Passes so many times, with a pause of so many milliseconds after every tenth, and then stays for a while.
pub(super) const TICKS_PY: &str = "\
import sys
import time

count, pause, stay = (int(it) for it in sys.argv[1:])


def tick(n):
    twice = n * 2
    return twice  # BP: tick


for n in range(count):
    tick(n)
    if pause and n % 10 == 0:
        time.sleep(pause / 1000)
time.sleep(stay)
";

pub(super) const TICKS_JS: &str = "\
const [count, pause, stay] = process.argv.slice(2).map(Number);
const sleeper = new Int32Array(new SharedArrayBuffer(4));

function tick(n) {
  const twice = n * 2;
  return twice; // BP: tick
}

for (let n = 0; n < count; n += 1) {
  tick(n);
  if (pause && n % 10 === 0) Atomics.wait(sleeper, 0, 0, pause);
}
setTimeout(() => {}, stay * 1000);
";

pub(super) const STEPS_PY: &str = "\
def price(order):
    amount = order['count'] * 3
    amount += 1  # BP: here
    return amount


for number in range(3):
    print(price({'count': number, 'password': 'hunter2-of-the-soak'}))
";

pub(super) const STEPS_JS: &str = "\
function price(order) {
  let amount = order.count * 3;
  amount += 1; // BP: here
  return amount;
}

for (let number = 0; number < 3; number += 1) {
  console.log(price({ count: number, password: 'hunter2-of-the-soak' }));
}
";

/// An app under the Python client: so many calls, a hundred in a second; it says how many the server took.
pub(super) const APP: &str = "\
import sys
import time

import holdpoint
from holdpoint._runtime import runtime


def add(a, b):
    return b + str(a)


holdpoint.with_debug('ON')
add = holdpoint.with_debug(('soak_add', add))
count = int(sys.argv[1])
for n in range(count):
    add(n, 'order ' * 20 + str(time.time_ns()))
    if n % 10 == 0:
        time.sleep(0.1)
assert holdpoint.flush(30)
print(count - runtime.ship.dropped_so_far())
";
