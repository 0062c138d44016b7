"""`python -m citeweave` is the command `citeweave`."""

from citeweave.cli.main import main

if __name__ == "__main__":
    main()
