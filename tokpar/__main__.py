"""`python -m tokpar`: the command line."""

import sys

from tokpar.cli import main

if __name__ == "__main__":
    sys.exit(main())
