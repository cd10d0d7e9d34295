"""What a run prints: progress, a log, a table."""

import sys


class Log:
    """Lines of the run, in a file and for a person who watches."""

    def __init__(self, verb, path):
        self.verb, self.path = verb, path

    def say(self, text):
        """Progress, for a person who watches."""
        if sys.stdout.isatty():
            print(f"{self.verb}: {text}", flush=True)

    def note(self, line):
        """A line for the file, too."""
        self.say(line)
        with open(self.path, "a") as log:
            log.write(f"{line}\n")


def table(lines):
    """Lines of cells, aligned."""
    widths = [max(len(cell) for cell in column) for column in zip(*lines)]
    lines = [lines[0], ["-" * width for width in widths], *lines[1:]]
    rows = (" | ".join(cell.ljust(width) for cell, width in zip(line, widths)) for line in lines)
    return "\n".join(f"| {row} |" for row in rows)
