"""`python -m viva` and the program `viva`: Ctrl-C ends it without a traceback, also while its modules are imported."""

from viva.cli.shared.stop_signals import end_at_once


def main() -> None:
    """Run the command of the command line."""
    end_at_once()
    from viva.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
