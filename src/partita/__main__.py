"""The `partita` command, and `python -m partita`: signals have their answers before anything else is imported."""

import _signal  # type: ignore[import-not-found]  # what `signal` is made of: it takes no time to import
import os


def main() -> None:
    """Entry point of the `partita` command."""
    for number in (_signal.SIGINT, _signal.SIGTERM):
        if _signal.getsignal(number) is not _signal.SIG_IGN:
            _signal.signal(number, lambda number, frame: os._exit(128 + number))
    from partita.cli import main as run

    run()


if __name__ == "__main__":
    main()
