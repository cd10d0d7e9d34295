"""The rows of `make live`, in the order in which they are run."""

import bandwidth
import keepalive
import killed
import left
import many
import options
import rows
import terminate

KINDS = (rows, options, terminate, many, killed, left, keepalive, bandwidth)


def listed():
    """All of them."""
    return [row for kind in KINDS for row in kind.rows()]
