#!/usr/bin/env bash
# Pings over two simulated devices: two servers of devices, a hub between their wires, and rping at
# either end, each a process of its own.
#
#   rping.sh [--dut model|rtl] [--v6] [OPTION]...
#
# --v6 has both ends speak IPv6, fd00::1 and fd00::2, instead of IPv4. All other options are those of
# both ends of rping, such as --markers, --revision 1, --no-crc or --vlan 7; -C COUNT, -S OCTETS and
# -v among them. Programs are those of PROGRAMS, or of target/release (or of CARGO_TARGET_DIR).
# Everything ends with this script, however that ends.
set -euo pipefail
programs=${PROGRAMS:-${CARGO_TARGET_DIR:-target}/release}
dut=model
if [ "${1:-}" = --dut ]; then
    dut=${2:?"rping.sh: --dut takes model or rtl"}
    shift 2
fi
server_address=192.0.2.1 client_address=192.0.2.2 prefix=24
options=()
for option; do
    case $option in
        --v6) server_address=fd00::1 client_address=fd00::2 prefix=64 ;;
        *) options+=("$option") ;;
    esac
done
. "$(dirname "$0")/processes.sh"

# What a program says, after its name, as it comes.
name() {
    sed -u "s/^/$1: /"
}

for end in a b; do
    "$programs/rnic" serve --dut "$dut" --vfio-user "$folder/$end.sock" \
        --link "unix:$folder/$end.wire" --clients 1 >"$folder/$end.log" 2>&1 &
    children+=($!)
    # One after the other: the first one builds the core, if it has to be built.
    wait_for $! "$folder/$end.log" '^serving '
done
"$programs/rnic" hub --port "unix-connect:$folder/a.wire" --port "unix-connect:$folder/b.wire" \
    >"$folder/hub.log" 2>&1 &
hub=$!
children+=("$hub")
wait_for "$hub" "$folder/hub.log" '^seed '

"$programs/rping" "vfio-user:$folder/a.sock" --server \
    --own "$server_address/$prefix" "${options[@]}" \
    > >(tee "$folder/server.log" | name server) 2> >(name server >&2) &
server=$!
children+=("$server")
wait_for "$server" "$folder/server.log" '^listening '
begun=$(date +%s%N)
status=0
"$programs/rping" "vfio-user:$folder/b.sock" --client \
    --own "$client_address/$prefix" --address "$server_address" --verify "${options[@]}" \
    > >(name client) 2> >(name client >&2) &
client=$!
children+=("$client")
# In the background, so that a signal need not wait for its end.
wait "$client" || status=$?
took=$((($(date +%s%N) - begun) / 1000000))
if [ "$status" != 0 ]; then
    # A server that nobody has reached waits on.
    kill "$server" 2>/dev/null || true
fi
wait "$server" || [ "$status" != 0 ] || status=$?
kill -INT "$hub" && wait "$hub" || true
grep '^unix-connect' "$folder/hub.log" | sed "s|unix-connect:$folder/|hub: |" || true
# What was said before is printed before the result.
sleep 0.1
case $status in
    0) echo "rping: good, on two devices ($dut), in $took ms" 2>/dev/null || exit 141 ;;
    *) echo "rping: failed, on two devices ($dut); what each said is above" >&2 ;;
esac
exit "$status"
