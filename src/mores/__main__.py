"""`python -m mores` is `mores`."""

from mores.cli import main

if __name__ == "__main__":
    main()
