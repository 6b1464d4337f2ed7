"""Write where a release comes from: a statement of in-toto with SLSA's provenance, without times.

Arguments: the statement, the folder of the source, its commit, and the files of the release.
"""

import json
import sys
from hashlib import sha256
from pathlib import Path

LOCKS = ("requirements-release.lock", "requirements-runtime.lock")
"""What built the release, and what an SBOM was made of."""


def named(path: Path) -> dict[str, object]:
    """Describe a file by its digest."""
    return {"name": path.name, "digest": {"sha256": sha256(path.read_bytes()).hexdigest()}}


def main(statement: str, source: str, commit: str, *files: str) -> None:
    """Write the statement about files of a release."""
    revision = {"name": "source", "digest": {"gitCommit": commit}}
    locks = [named(Path(source, name)) for name in LOCKS]
    told = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [named(Path(name)) for name in files],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "urn:dpassay:release.sh:1",
                "externalParameters": {"commit": commit},
                "resolvedDependencies": [revision, *locks],
            },
            "runDetails": {"builder": {"id": "urn:dpassay:ci/release.sh"}},
        },
    }
    text = json.dumps(told, indent=2, sort_keys=True) + "\n"
    Path(statement).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
