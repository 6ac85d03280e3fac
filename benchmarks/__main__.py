"""`python -m benchmarks`: see benchmarks/bench/command.py."""

import sys

from benchmarks.bench.command import main

sys.exit(main())
