"""The log of a program that was killed: what it lacks is its end, and no more.

    capture, each way:  a b c d e f | g h      in order, without what other programs have logged
    log of the killed:  a b c d e f |          --> g and h were on their way
                        a b   d e f |          --> c is missing, and that is a fault

A message may have come, or left, whose line was not written any more; one that was posted and noted
may not have left. Either can be as many as the two ends grant each other.
"""

import collections
import re

from processes import Failed

CREDITS = re.compile(r" credits (\d+) ")


def without(lines, others):
    """Lines without those of a log, the first ones of those that are alike; and how many of that
    log there are none of."""
    left, rest = collections.Counter(others), []
    for line in lines:
        if left[line]:
            left[line] -= 1
        else:
            rest.append(line)
    return rest, left.total()


def ends_alike(found, log, most):
    """Lines of one way of the killed program: how many are missing at the end of the log, and how
    many of the log are not found before its end."""
    unknown, _ = without(found, log)
    tail = len(unknown)
    if unknown != found[len(found) - tail:]:
        raise Failed(f"tshark reads what our end has not logged, and later ones: {unknown[0]}")
    unread, _ = without(log, found)
    while unread and log and unread[-1] == log[-1]:
        log = log[:-1]
        unread = unread[:-1]
        tail += 1
    if tail > most:
        raise Failed(f"{tail} messages were on their way to or from a program that was killed,"
                     f" which may be {most}: {unknown[:1]}")
    return tail, len(unread)


def compare(found, logs, killed, count):
    """Words for the table, of lines in the order of the capture, the logs of all programs in their
    order, and which one was killed. Of `count` Sends tshark leaves a few undissected."""
    before, log, after = logs[:killed], logs[killed], logs[killed + 1:]
    rest, unread = without(found, sum(before, []))
    rest, more = without(rest[::-1], sum(after, []))
    rest, unread = rest[::-1], unread + more
    most = max((int(credits) for credits in CREDITS.findall("\n".join(log))), default=0)
    tails = 0
    for way in ("sent ", "received "):
        tail, more = ends_alike([line for line in rest if line.startswith(way)],
                                [line for line in log if line.startswith(way)], most)
        tails, unread = tails + tail, unread + more
    # Those that are not dissected may be of the end, too.
    not_read = count - len(found)
    if not unread <= not_read <= unread + 2 * most:
        raise Failed(f"of {count} Sends tshark reads {len(found)}, and our ends have logged"
                     f" {unread} others")
    said = f"{len(found)} headers are alike but for {tails} at the end of a log"
    return said + f", {not_read} are not read" * (not_read > 0)
