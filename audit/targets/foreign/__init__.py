"""Foreign targets: programs that speak JSON lines, and services that take the same by POST."""

from dpassay.targets.foreign.mechanism import Http as Http
from dpassay.targets.foreign.mechanism import Process as Process
from dpassay.targets.foreign.mechanism import http as http
from dpassay.targets.foreign.mechanism import process as process
from dpassay.targets.foreign.program import ProcessLimits as ProcessLimits

__all__ = ["Http", "Process", "ProcessLimits", "http", "process"]
