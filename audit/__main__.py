"""`python -m dpassay`."""

from dpassay.cli.main import main

raise SystemExit(main())
