"""Files as CmdStan writes them (comments, lp__, other parameters, labels from 1): the command reads them directly."""

import subprocess
import sys
from pathlib import Path

import numpy as np

import partita as pt
from mixture import gibbs, make_data

y, truth = make_data()
for chain in (1, 2):
    z = gibbs(y, seed=chain) + 1
    header = ["lp__", "accept_stat__", "means.1", *(f"z.{i + 1}" for i in range(y.size))]
    rows = [f"-100.5,0.9,0.1,{','.join(map(str, draw))}" for draw in z]
    text = [
        "# stan_version_major = 2",
        ",".join(header),
        "# Adaptation terminated",
        *rows,
        "# ",
        "# Elapsed Time: 0.1 s",
    ]
    Path(f"output_{chain}.csv").write_text("\n".join(text) + "\n")
np.savetxt("truth.csv", truth, fmt="%d", header="cluster", comments="")
command = "report output_1.csv output_2.csv --variable z --seed 1 --truth truth.csv --out CmdStan.html --force"
subprocess.run([sys.executable, "-m", "partita", *command.split()], check=True)
if pt.nmi(pt.read_report("CmdStan.html").labels, truth) < 0.9:
    sys.exit("CmdStan: the estimate misses the truth")
