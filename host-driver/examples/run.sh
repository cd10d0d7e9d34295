#!/usr/bin/env bash
# Runs an example against the simulated device, which another process serves on a socket.
#
#   run.sh receive CAPTURE [OPTION]...
#   run.sh raw_frames
#   run.sh counters
#
# Both programs are those of target/release (or of CARGO_TARGET_DIR). Ends with the status of the
# example; the server ends with its client.
set -euo pipefail
programs=${CARGO_TARGET_DIR:-target}/release
example=$1
shift
folder=$(mktemp -d)
socket=$folder/rnic.sock
arguments=("$@")
case $example in
    receive) link=pcap:$1 ;;
    raw_frames) link=unix:$folder/link.sock arguments=("$folder/link.sock") ;;
    *) link=none ;;
esac

"$programs/rnic" serve --vfio-user "$socket" --link "$link" --clients 1 &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
# The socket is there once the device is built and has answered.
until [ -S "$socket" ]; do
    if ! kill -0 "$server" 2>/dev/null; then
        echo "run.sh: the server has ended; its message is above" >&2
        exit 2
    fi
    sleep 0.1
done
"$programs/$example" "vfio-user:$socket" ${arguments[@]+"${arguments[@]}"}
wait "$server"
