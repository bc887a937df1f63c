"""The `partita` command, and `python -m partita`: Ctrl-C has its answer before anything else is imported."""

import _signal  # type: ignore[import-not-found]  # what `signal` is made of: it takes no time to import
import os


def main() -> None:
    """Entry point of the `partita` command."""
    if _signal.getsignal(_signal.SIGINT) is not _signal.SIG_IGN:
        _signal.signal(_signal.SIGINT, lambda number, frame: os._exit(128 + number))
    from partita.cli import main as run

    run()


if __name__ == "__main__":
    main()
