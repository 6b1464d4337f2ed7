"""`python -m dpassay`."""

import sys

if not sys.flags.safe_path:
    del sys.path[0]  # the working directory, which only a user's own code is looked for in

from dpassay.cli.main import main

raise SystemExit(main())
