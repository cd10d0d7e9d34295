"""Judges what two ends of ours have sent to each other, from the octets alone.

    python3 testbench/vm/live/judge.py DELIVERED.pcapng DROPPED.pcapng [--tshark]

In: the two files of a hub: frames in the order in which they were delivered, and those that it has
lost. Out: a JSON object with counts and `faults`; status 1 if there is a fault, or nothing to judge.

All of octets.py and fpdus.py is asked of both ends: checksums, octets that were sent again, lost
originals among them, markers, FPDUs, messages. Here is what is left: a stream may end in the middle
of an FPDU or a message only if it was reset.

With `--tshark`, of a wire that has lost nothing, that reader has to find the same (dissector.py);
`tshark` in the object is what it says, or that it is not there.

No capture holds what was never sent, nor what an application was given: the test that runs the two
ends compares that.
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

# pylint: disable=wrong-import-position
import dissector
import fpdus
import octets
import wire
from processes import Failed


def faults_of(connection, sides, ends):
    """What is wrong with a connection."""
    found = octets.connection_problems(connection, sides, ends, None)
    if not connection.resets:
        found += [f"{address}: its stream ends {side.rest} octets into an FPDU"
                  for (address, _), side in zip(connection.ends, sides)
                  if side.rest or side.untagged or side.tagged]
    return found


def judged(delivered, dropped):
    """Counts, and all that is wrong."""
    connections = wire.connections(delivered, dropped)
    ends = {address for connection in connections for address, _ in connection.ends}
    faults = octets.problems(wire.frames(delivered), [], ends)
    faults += [f"lost {what}" for what in octets.problems(wire.frames(dropped), [], ends)]
    totals = dict.fromkeys(["fpdus", "markers", "octets", "again", "lost"], 0)
    for connection in connections:
        if not all(connection.start_ups()):
            faults.append(f"{connection.ends}: it has not started up")
            continue
        sides = fpdus.of(connection, ends)
        faults += faults_of(connection, sides, ends)
        totals["again"] += connection.again()
        for direction, side in zip(connection.directions, sides):
            totals["octets"] += len(direction.octets)
            totals["lost"] += len(direction.pieces) - direction.segments
            totals["fpdus"] += len(side.fpdus)
            totals["markers"] += sum(len(fpdu.markers) for fpdu in side.fpdus)
    return {**totals, "faults": faults}


def dissected(delivered):
    """What tshark says, and what is wrong with it."""
    connections = wire.connections(delivered)
    ends = {address for connection in connections for address, _ in connection.ends}
    try:
        return dissector.dissect(delivered, connections, ends, 0), []
    except Failed as failed:
        return "", [str(failed)]


def main():
    """The verdict on two files."""
    delivered, dropped = (pathlib.Path(name) for name in sys.argv[1:3])
    verdict = judged(delivered, dropped)
    if sys.argv[3:] == ["--tshark"]:
        verdict["tshark"], faults = dissected(delivered)
        verdict["faults"] += faults
    print(json.dumps(verdict))
    sys.exit(1 if verdict["faults"] or not verdict["fpdus"] else 0)


if __name__ == "__main__":
    main()
