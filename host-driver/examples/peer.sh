#!/usr/bin/env bash
# The scripted peer of `rnic peer` against this project itself: devices in software, a hub, and rping
# behind each of them: one that listens as it is, one that asks for markers, one that does not ask
# for CRC32C, and a client that comes again and again.
#
#   peer.sh [OPTION]...
#
# The options are those of `rnic peer`, such as --case NAME, --json FILE or --pcap FILE. Programs are
# those of PROGRAMS, or of target/release (or of CARGO_TARGET_DIR). Everything ends with this script,
# however that ends.
set -euo pipefail
programs=${PROGRAMS:-${CARGO_TARGET_DIR:-target}/release}
. "$(dirname "$0")/processes.sh"
before_end() {
    touch "$folder/end"
}

ports=(--port "unix:$folder/peer.wire")
for name in plain markers nocrc client; do
    "$programs/rnic" serve --dut model --vfio-user "$folder/$name.sock" \
        --link "unix:$folder/$name.wire" >"$folder/$name.log" 2>&1 &
    children+=($!)
    wait_for $! "$folder/$name.log" '^serving '
    ports+=(--port "unix-connect:$folder/$name.wire")
done
"$programs/rnic" hub "${ports[@]}" >"$folder/hub.log" 2>&1 &
children+=($!)
wait_for $! "$folder/hub.log" '^seed '

# A server that serves one client after another: its device, its last octet, how it is set.
listen() {
    local name=$1 octet=$2
    shift 2
    "$programs/rping" "vfio-user:$folder/$name.sock" --server --persistent \
        --own "10.77.0.$octet/24" --timeout 10 "$@" \
        >"$folder/$name.out" 2>"$folder/$name.err" &
    children+=($!)
    wait_for $! "$folder/$name.out" '^listening '
}
listen plain 1
listen markers 2 --markers
listen nocrc 3 --no-crc

# A client that nobody answers yet is refused, and comes again.
clients() {
    until [ -e "$folder/end" ]; do
        "$programs/rping" "vfio-user:$folder/client.sock" --client --own 10.77.0.4/24 \
            --address 10.77.0.9 --count 1 --verify --timeout 3 || true
    done >"$folder/client.out" 2>"$folder/client.err"
}
clients &
children+=($!)

# In the background, so that a signal need not wait for its end.
status=0
"$programs/rnic" peer --link "unix-connect:$folder/peer.wire" --own 10.77.0.9/24 \
    --target 10.77.0.1 --target markers=10.77.0.2 --target no-crc=10.77.0.3 --clients \
    --may-crash "$@" &
wait $! || status=$?
if [ -n "${KEEP:-}" ]; then
    cp -r "$folder" "$KEEP"
fi
exit "$status"
