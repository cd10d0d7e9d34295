#!/usr/bin/env python3
"""Which figures are older than the last change of what they measure; run by `make figures`.

    docs/figures.md --> rows: commit, paths --> git log COMMIT..HEAD -- PATHS --> a line for each

In: the tables between the marks of docs/figures.md, and the history of this clone. Out: a line for
each figure, `current` or `older` with the number of commits since and the last of them; last, how
many are older. What is changed but not committed counts as one commit more. A comment that changed
is a change: whether a figure still holds is for the reader to judge, or to measure.

Exit status: 0, older or not; 2 if a table is not as it should be, a commit or a path is missing, or
there is no history to ask.
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
COLUMNS = ["what", "goal", "measured", "command", "commit", "machine", "measures"]
# Of what is printed of a figure's name.
NAME_COLUMNS = 60


class Failed(Exception):
    """An error for the user."""


def figures(page):
    """The rows of the tables in `page`, each as a dictionary by column."""
    parts = page.split(BEGIN)
    if len(parts) != 2 or parts[1].count(END) != 1:
        raise Failed(f"docs/figures.md: {BEGIN} and {END} must be there once")
    found = []
    for line in parts[1].split(END)[0].splitlines():
        if not line.startswith("|"):
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if cells == COLUMNS or set(line) <= set("|-"):
            continue
        if len(cells) != len(COLUMNS) or not all(cells):
            raise Failed(f"docs/figures.md: a row needs {len(COLUMNS)} cells: {line[:NAME_COLUMNS]}")
        found.append(dict(zip(COLUMNS, cells)))
    if not found:
        raise Failed("docs/figures.md: no figure")
    return found


def git(*arguments):
    """What a git command prints."""
    run = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    if run.returncode != 0:
        raise Failed(f"git {' '.join(arguments)}: {run.stderr.strip() or 'failed'}")
    return run.stdout.strip()


def changes(commit, paths):
    """The changes of `paths` since `commit`, the last one first, a line each."""
    missing = [path for path in paths if not (ROOT / path).exists()]
    if missing:
        raise Failed(f"docs/figures.md: no such path: {', '.join(missing)}")
    git("cat-file", "-e", f"{commit}^{{commit}}")
    log = git("log", "--format=%h of %cs", f"{commit}..HEAD", "--", *paths)
    dirty = ["not committed"] if git("status", "--porcelain", "--", *paths) else []
    return dirty + log.splitlines()


def main():
    rows = figures((ROOT / "docs" / "figures.md").read_text(encoding="utf-8"))
    if git("rev-parse", "--is-shallow-repository") == "true":
        raise Failed("this clone has no history; git fetch --unshallow")
    older = 0
    for row in rows:
        commit, paths = row["commit"].strip("`"), row["measures"].replace("`", "").split(", ")
        since = changes(commit, paths)
        older += bool(since)
        state = f"older    {len(since)} changes since, the last {since[0]}" if since else "current"
        name = row["what"]
        short = name if len(name) <= NAME_COLUMNS else name[: NAME_COLUMNS - 3] + "..."
        print(f"{short:{NAME_COLUMNS}}  {commit}  {state}")
    print(f"{len(rows)} figures, {older} older than the last change of what they measure")


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        print(f"figures: {error}", file=sys.stderr)
        sys.exit(2)
