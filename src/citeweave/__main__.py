"""Run the command `citeweave` as `python -m citeweave`."""

from citeweave.cli.main import main

if __name__ == "__main__":
    main()
