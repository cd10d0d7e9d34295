#!/usr/bin/env bash
# Checks that an example builds outside of the workspace, as a user's program does: a package in a
# temporary folder that depends on rnic-driver and rnic-device by path, and on nothing else of the
# project. What the workspace has built is used again, so this compiles our own crates only.
#
#   outside.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/src"
cp Cargo.lock "$folder"
cp host-driver/examples/raw_frames.rs "$folder/src/main.rs"
{
    cat <<MANIFEST
[package]
name = "outside"
version = "0.1.0"
edition = "2021"

[workspace]

[dependencies]
rnic-driver = { path = "$PWD/host-driver" }
rnic-device = { path = "$PWD/sim/device" }
clap = { version = "4", features = ["derive"] }

# As in the workspace, so that nothing is fetched. Without it rust-hdl takes its own \`svg\`.
[patch.crates-io]
svg = { path = "$PWD/hdl/svg" }

MANIFEST
    # Levels of packages are part of what cargo compares before it uses a result again.
    awk '/^\[/ { kept = /^\[profile\.dev[].]/ } kept' Cargo.toml
} >"$folder/Cargo.toml"
cargo check --quiet --offline --manifest-path "$folder/Cargo.toml" \
    --target-dir "${CARGO_TARGET_DIR:-target}"
echo "outside.sh: raw_frames builds with rnic-driver and rnic-device alone"
