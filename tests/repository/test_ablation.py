"""The ablation of the searches names what is there: its variations fail here when an ingredient or a constant goes."""

import re

import pytest
from benchmarks.ablation.build import names_of, shadow_headers
from benchmarks.ablation.variations import VARIATIONS

POLICIES = [(f"{kind}: {name}", policy) for kind, table in VARIATIONS.items() for name, (policy, _) in table.items()]


@pytest.fixture(scope="module")
def known():
    return set(re.findall(r'(?:tuned|switched)\("([^"]+)"', "".join(shadow_headers().values())))


@pytest.mark.parametrize(("name", "policy"), POLICIES)
def test_a_variation_names_what_the_build_reads(known, name, policy):
    assert set(names_of(policy)) <= known
    assert bool(policy) == (not name.endswith("default"))


def test_every_constant_of_a_policy_file_is_read(known):
    text = shadow_headers()["draws/policy.hpp"]
    assert "constexpr" not in text
    assert {"draws.population", "draws.coarse_labels", "networks.small.6", "partition.cold", "chains"} <= known
