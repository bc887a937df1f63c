"""All benchmarks, the quick variants: `make bench`. Each module can be run alone for more."""

from importlib import import_module

QUICK: dict[str, list[str]] = {
    "sample": [],
    "losses": [],
    "search": ["--data", "iris,galaxy", "--losses", "vi,binder,nvi"],
}

for name, arguments in QUICK.items():
    print(f"— {name}")
    module = import_module(f"benchmarks.{name}")
    module.main(arguments) if arguments else module.main()
