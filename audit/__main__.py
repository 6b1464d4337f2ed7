"""`python -m dpassay`."""

from dpassay.cli import main

raise SystemExit(main())
