"""The site, made of these pages, the docstrings and the help of every command: `make site`."""

from __future__ import annotations

import os
from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from typing import Any

from dpassay.cli.main import COMMANDS, parse

os.environ["COLUMNS"] = "80"
project = "dpassay"
project_copyright = "the dpassay developers, Apache-2.0"
extensions = ["myst_nb", "numpydoc", "sphinx.ext.autosummary"]
source_suffix = {".rst": "restructuredtext", ".md": "myst-nb", ".ipynb": "myst-nb"}
nb_execution_mode = "force"  # it is run here, and nowhere else
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_merge_streams = True
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
default_role = "code"
numpydoc_show_class_members = False
autodoc_typehints = "none"  # the sections of a docstring say them in words
html_theme = "pydata_sphinx_theme"
html_title = "dpassay"
html_theme_options = {"secondary_sidebar_items": ["page-toc"], "show_prev_next": False}
html_show_sourcelink = False


def write_commands(app: Any) -> None:
    """Write `command_line.md`: the help of every command."""
    text = "# Command line\n\nThis page is for whoever uses `dpassay` in a terminal. "
    text += "It holds what `dpassay COMMAND --help` prints.\n"
    for command in COMMANDS:
        page = StringIO()
        with redirect_stdout(page), suppress(SystemExit):
            parse([command, "--help"])
        text += f"\n## dpassay {command}\n\n```text\n{page.getvalue()}```\n"
    Path(app.srcdir, "command_line.md").write_text(text, encoding="utf-8")


def setup(app: Any) -> None:
    """Have the page written before pages are read."""
    app.connect("builder-inited", write_commands)
