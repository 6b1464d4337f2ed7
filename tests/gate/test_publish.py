"""ci/publish: its form, and one comment that is written and then replaced."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.gate.conftest import ROOT, Tools

TEXT = (ROOT / "ci" / "publish" / "action.yml").read_text("utf-8")
ACTION: dict[str, Any] = yaml.safe_load(TEXT)
GH = """#!/usr/bin/env python3
import json, os, pathlib, subprocess, sys

store = pathlib.Path(os.environ["COMMENTS"])
comments = json.loads(store.read_text())
words = sys.argv[1:]
with open(os.environ["CALLS"], "a") as file:
    file.write("gh " + " ".join(words) + "\\n")
if "--jq" in words:
    marker = words[words.index("--jq") + 1].split('startswith("')[1].split('")')[0]
    for each in comments:
        if each["login"] == "github-actions[bot]" and each["body"].startswith(marker):
            print(each["id"])
else:
    ((name, path),) = (word.split("=@") for word in words if "=@" in word)
    body = pathlib.Path(path).read_text()
    if "POST" in words:
        comments.append({"id": len(comments) + 1, "login": "github-actions[bot]", "body": body})
    else:
        number = int(next(word for word in words if "/" in word).rsplit("/", 1)[1])
        comments[number - 1]["body"] = body
    store.write_text(json.dumps(comments))
"""


def test_its_form() -> None:
    assert "checkout" not in TEXT, "no code of the project comes here"
    (gate,) = (step for step in ACTION["runs"]["steps"] if "run" in step)
    assert gate["if"].endswith("github.event_name == 'pull_request'")


@pytest.fixture
def comments(stub: Tools, tmp_path: Path) -> Path:
    """What a pull request has: a comment of somebody who begins it as we do."""
    (stub.folder / "gh").write_text(GH)
    (stub.folder / "gh").chmod(0o755)
    theirs = {"id": 1, "login": "somebody", "body": "<!-- dpassay privacy -->\nmine"}
    (tmp_path / "comments.json").write_text(json.dumps([theirs]))
    return tmp_path / "comments.json"


def test_a_comment_is_written_then_replaced(stub: Tools, comments: Path, tmp_path: Path) -> None:
    def post(text: str, name: str) -> None:
        (tmp_path / "comment.md").write_text(text)
        variables = {"COMMENT_FILE": str(tmp_path / "comment.md"), "COMMENT_NAME": name}
        variables |= {"COMMENT_NUMBER": "7", "GITHUB_REPOSITORY": "us/demo"}
        subprocess.run(
            ["bash", ROOT / "ci" / "publish" / "comment.sh"],
            env=stub.environment(**variables, COMMENTS=str(comments)), check=True,
        )  # fmt: skip

    for text, name in (("first", "privacy"), ("second", "privacy"), ("other", 'a") | .x ("')):
        post(text, name)
    bodies = [each["body"] for each in json.loads(comments.read_text())]
    assert bodies == [
        "<!-- dpassay privacy -->\nmine",
        "<!-- dpassay privacy -->\nsecond",
        "<!-- dpassay a-----.x--- -->\nother",
    ]
    assert all("repos/us/demo/issues/" in call for call in stub.called("gh"))
