"""The variations of each kind: what is left out or changed, and where it may change something."""

from __future__ import annotations

BINDER, OTHERS, LIMITS = ", binder", ", (?!binder)", "limit|cls15|vi .5"
EFFORTS = ("small", "small_plain", "small_plain_uneven", "medium", "medium_uneven", "large")


def efforts(place: int, value: int) -> str:
    """One field of every network's effort."""
    return ",".join(f"networks.{name}.{place}={value}" for name in EFFORTS)


def starts(cycle: str, places: tuple[int, ...], kind: int) -> str:
    """Other starts of networks: 1 spectral, 4 communities, 5 annealed, 6 random."""
    return ",".join(f"networks.{cycle}.{place}={kind}" for place in places)


#: A variation, its policy, and what is in the names of the problems where it may change something.
DRAWS = f"""
default
no chains | chains=0
chains among all items | boundary=0 | {OTHERS}
no rebuilding | search.zealous=0
rebuilding half | search.zealous=5
rebuilding double | search.zealous=20
rebuilding of single clusters | pairs=0
rebuilding by attempts alone | partition.allocations_per_attempt=1e9
rebuilding by allocations half | partition.allocations_per_attempt=0.15
rebuilding without room made | room=0 | {LIMITS}
any merge makes room | partition.cheap_merges=1e6 | {LIMITS}
no merges in descents | merges=0
no crossing | partition.max_crossing_rounds=0
crossing once | partition.max_crossing_rounds=1
crossing half | partition.max_rank_sum=3
crossing double | partition.max_rank_sum=7
no large neighbourhoods | partition.fruitless_rounds=0
large neighbourhoods half | partition.intensifying_attempts=12
large neighbourhoods double | partition.intensifying_attempts=48
large neighbourhoods in one round | partition.fruitless_rounds=1
large neighbourhoods of two | partition.intensified=2
no regions | regions=0
no clusters of draws | gather=0
clusters of draws also if alike | partition.alike_share=2
regions of two clusters | partition.max_dissolved=1
regions of any size | partition.few_dissolved_items=1e9
always large neighbourhoods | partition.few_at_best=1000
share of runs alone | partition.few_at_best=0
no exchanges | partition.exchange_breadth=0 | {LIMITS}
exchanges one deep | partition.exchange_depth=1 | {LIMITS}
no sequential starts | sequential=0
no random starts | random=0
no starts from draws | draws=0
the first draw that comes | partition.draws_per_start=1
eight runs | search.runs=8
one level | draws.max_coarse=1e9,draws.coarse_labels=1e15,draws.few_draws=1e9 | {OTHERS}
half as many coarse draws | draws.max_coarse=128 | {OTHERS}
several levels of few labels | draws.few_labels=0 | {OTHERS}
one group | draws.max_groups=1 | {OTHERS}
two groups | draws.max_groups=2 | {OTHERS}
one kept per group | draws.kept_per_group=1 | {OTHERS}
no tabu search | draws.tabu_patience=0 | {BINDER}
tabu search half | draws.tabu_patience=100 | {BINDER}
tabu search double | draws.tabu_patience=400 | {BINDER}
tenure without chance | partition.tenure_part=1e6 | {BINDER}
no population | draws.population=0 | {BINDER}
population half | draws.population=24 | {BINDER}
generations half | draws.fruitless_generations=9 | {BINDER}
two at the best end it | draws.enough_at_best=2 | {BINDER}
further runs no more persistent | draws.further_persistence=1 | {BINDER}
disagreement as for others | draws.matrix_part_at_best=0.125 | {BINDER}
no matrix | draws.max_matrix_items=0 | {BINDER}
"""
NETWORK = f"""
default
no annealing | {starts("small_cycle", (1, 3, 4, 6, 7), 6)}
no spectral starts | {starts("small_cycle", (0, 5), 5)}
no communities | {starts("small_cycle", (2,), 5)}
one resolution | {",".join(f"networks.resolutions.{place}=1" for place in range(5))}
annealing half | {efforts(0, 50)}
one effort | {efforts(0, 140)},{efforts(2, 4)},{efforts(3, 8)}
no crossing | partition.max_generations=0
patience half | {efforts(3, 3)}
no reheating | {efforts(1, 0)}
no groups | partition.max_groups=1
no refinement | partition.max_refinements=0
no rearrangement | {efforts(5, 0)},{efforts(6, 0)},{efforts(7, 0)}
runs not rearranged | {efforts(5, 0)}
children not rearranged | {efforts(6, 0)}
rearrangement without heat | networks.arrangement_heat=0
no splits | splits=0
no last sweeps | networks.max_polished=0
all clusters are near | networks.min_near=1e6
no partial sweeps | partition.max_follows=1
no periphery starts | {starts("uneven_cycle", (1,), 6)} | weak
no random starts | {starts("uneven_cycle", (3,), 2)},{starts("medium_cycle", (1, 3), 1)} | weak
"""


MIXTURE = """
default
no reheating | mixtures.reheat_sweeps=0
no annealing | mixtures.max_small=0
no splits | splits=0
no crossing | partition.max_generations=0
no groups | partition.max_groups=1
"""


def listed(table: str) -> dict[str, tuple[str, str]]:
    lines = ([*line.split(" | "), "", ""] for line in table.strip().splitlines())
    return {name: (policy, problems) for name, policy, problems, *_ in lines}


VARIATIONS = {"draws": listed(DRAWS), "networks": listed(NETWORK), "mixtures": listed(MIXTURE)}
