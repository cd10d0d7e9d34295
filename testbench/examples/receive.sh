#!/usr/bin/env bash
# Serves the simulated device on a socket, and has another process receive a capture through it.
#
#   receive.sh CAPTURE [OPTION of receive]...
#
# Both programs are those of target/release (or of CARGO_TARGET_DIR). Ends with the status of
# `receive`; the server ends with its client.
set -euo pipefail
capture=$1
shift
programs=${CARGO_TARGET_DIR:-target}/release
folder=$(mktemp -d)
socket=$folder/rnic.sock

"$programs/rnic" serve --vfio-user "$socket" --link "pcap:$capture" --clients 1 &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
# The socket is there once the device is built and has answered.
until [ -S "$socket" ]; do
    if ! kill -0 "$server" 2>/dev/null; then
        echo "receive.sh: the server has ended; its message is above" >&2
        exit 2
    fi
    sleep 0.1
done
"$programs/examples/receive" "vfio-user:$socket" "$capture" "$@"
wait "$server"
