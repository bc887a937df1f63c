"""The `partita` command, and `python -m partita`: signals have their answers before the command is imported."""

from partita._signals import listen


def main() -> None:
    """Entry point of the `partita` command."""
    listen()
    from partita.cli import main as run

    run()


if __name__ == "__main__":
    main()
