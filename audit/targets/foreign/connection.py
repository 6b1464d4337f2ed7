"""What ends a conversation, over a pipe to a process or by requests to a service."""


class Broken(Exception):
    """Nothing more can be had over a connection; the text says why."""


class Late(Broken):
    """No whole reply came in time."""


class Dropped(Broken):
    """A connection that failed before a whole reply came: what was sent may have been read."""
