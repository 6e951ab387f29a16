"""`python -m mores` is `mores`."""

from mores_start import main

if __name__ == "__main__":
    main()
