"""Random attacks on every public function: `python -m fuzz --help`.

A case is a short Python script. The generators of `fuzz.values` and the targets of `fuzz.targets` write it, and
`fuzz.execution` runs it and judges the outcome: what is printed and saved is therefore a script that anyone can run.
Every decision of a generator is one number of `fuzz.choices`, so that `fuzz.shrink` can make a script smaller without
knowing what it is about. `fuzz.workers` runs cases in child processes with a watchdog, so that a crash or a hang costs
one case. `fuzz.sanitized` swaps in the extension built under ASan and UBSan.
"""

import os

# One thread per child: many children run at a time, and a fork must not find threads of its parent.
for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")
