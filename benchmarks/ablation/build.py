"""A build of the core whose tuning constants are read when it starts: PARTITA_POLICY="draws.population=24,chains=0".

It lies in build/ablation and finds headers of its own before the core's: the policy files with each constant read from
the environment, and a few algorithms with a switch. The shipped build knows nothing of this.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "ablation"
TUNED = """
#include <cstdlib>
#include <cstring>
namespace partita {
struct Tuned {
    double value;
    template <class T> operator T() const { return static_cast<T>(value); }
};
inline Tuned tuned(const char* name, double value) {
    const auto length = std::strlen(name);
    for (const char* text = std::getenv("PARTITA_POLICY"); text; text = std::strchr(text, ',')) {
        text += *text == ',';
        if (std::strncmp(text, name, length) == 0 && text[length] == '=')
            return {std::strtod(text + length + 1, nullptr)};
    }
    return {value};
}
inline bool switched(const char* name) { return tuned(name, 1).value != 0; }
} // namespace partita
"""
STARTS = "kind %= 4; kind = kind == 1 ? @sequential@ : kind == 3 ? 3 * @random@ : @draws@ ? 0 : kind + 1; "
#: Ingredients that no constant leaves out: file, what is there, what takes its place; @name@ is a switch.
SWITCHES = (
    ("chains", "bool helped = false;", "bool helped = false; if (!@chains@) return false;"),
    ("chains", "(state, tally.boundary,", "(state, @boundary@ ? tally.boundary : std::vector<std::uint32_t>(),"),
    ("level", "count < 2; ++count)", "count < (@boundary@ ? 2 : 0); ++count)"),
    ("level", "if (kind % 4 == 1) {", STARTS + "if (kind % 4 == 1) {"),
    ("improve", "kind = rng.below(3)", "kind = @pairs@ ? rng.below(3) : 0"),
    ("improve", "if (kind == 1 && ", "if (@room@ && kind == 1 && "),
    ("improve", "while (merge_best", "while (@merges@ && merge_best"),
    ("large_neighbourhoods", "= rng.below(4) < (", "= !@gather@ || (@regions@ ? rng.below(4) : 4) < ("),
    ("climb", "split = split_clusters()", "split = @splits@ && split_clusters()"),
)


def shadow_headers() -> dict[str, str]:
    """Headers that the second build finds before the core's own, by their paths."""
    changes = {f"{name}/policy.hpp": tuned_constants for name in ("partition", "draws", "networks", "mixtures")}
    changes |= {f"partition/{name}.hpp": with_switches for name, _, _ in SWITCHES}
    texts = {name: change(Path(name), (ROOT / "cpp" / name).read_text("utf-8")) for name, change in changes.items()}
    return texts | {"tuned.hpp": "#pragma once\n" + TUNED}


def names_of(policy: str) -> list[str]:
    """The constants and switches that it names, but for the settings of `Search`."""
    return [part.split("=")[0] for part in policy.split(",") if part and not part.startswith("search.")]


def tuned_constants(header: Path, text: str) -> str:
    """A policy file whose constants are read when the library is loaded; "folder.name", parts as "folder.name.0"."""

    def constants(found: re.Match[str]) -> str:
        declared = re.split(r",\s*(?=\w+\s*(?:=|\[))", found[2])
        return "".join(f"inline const {found[1]} {tuned_constant(header.parent.name, each)};\n" for each in declared)

    bare = re.sub(r"//.*", "", text)
    return '#include "tuned.hpp"\n' + re.sub(r"inline constexpr ([\w:]+)\s+([^;]*);", constants, bare)


def tuned_constant(folder: str, declared: str) -> str:
    name, value = re.match(r"(\w+)(.*)", declared, re.DOTALL).groups()  # type: ignore[union-attr]
    part = (f"partita::tuned({key}, double({{}}))" for key in (f'"{folder}.{name}.{n}"' for n in range(1000)))
    if "{" in re.sub(r"\w+::\w+\{\d+\}", "", value):  # an array or a struct
        value = re.sub(r"StartKind::\w+|(?<![\w.])\d[\d.]*", lambda one: next(part).format(one[0]), value)
        return name + value
    return f'{name} = partita::tuned("{folder}.{name}", double({value.strip(" =")}))'


def with_switches(header: Path, text: str) -> str:
    for name, there, instead in SWITCHES:
        if name == header.stem:
            assert text.count(there) == 1, f"{header} has {text.count(there)} times {there!r}"
            text = text.replace(there, re.sub(r"@(\w+)@", r'partita::switched("\1")', instead))
    return '#include "tuned.hpp"\n' + text


def build() -> Path:
    """The second build's extension, made anew where the core has changed."""
    import nanobind

    for header, text in shadow_headers().items():
        path = BUILD / "headers" / header
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:  # else nothing is compiled again
            path.write_text(text, encoding="utf-8")
    flags = f"-DCMAKE_CXX_FLAGS=-iquote {BUILD / 'headers'}"
    python = [f"-DPython_EXECUTABLE={sys.executable}", f"-Dnanobind_DIR={nanobind.cmake_dir()}"]
    subprocess.run(["cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", flags, *python], check=True, stdout=sys.stderr)
    subprocess.run(["cmake", "--build", BUILD, "--target", "_core"], check=True, stdout=sys.stderr)
    return next(BUILD.glob("_core.*so"))


def use_the_build() -> None:
    """`partita._core` of this process is the second build's."""
    path = next(BUILD.glob("_core.*so"))
    spec = importlib.util.spec_from_file_location("partita._core", path)
    assert spec is not None
    assert spec.loader is not None
    sys.modules["partita._core"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["partita._core"])
