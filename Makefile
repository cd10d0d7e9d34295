# Targets are verbs; each installs or builds what it needs. `make` alone lists them.
WIDTH ?= 64
CONNECTIONS ?= 1024
VENV := .tools/venv/bin
RNIC := cargo run --release --quiet --package rnic-testbench --bin rnic --
CAPTURE := testbench/captures/rping-v4-crc.pcap
# Placement seed of `make timing` and `make estimate`.
SEED_64 := 1
SEED_128 := 2
# Placer of `make seeds`. With the default one routing was not seen to end at W = 128 (ADR 37).
PLACER_128 := static
# Tests that write a document have `document` in their names.
GENERATED := --profile dev --package rnic-testbench --test registers --test conformance --test attacks \
	--test documents document

.DEFAULT_GOAL := help
.PHONY: help tools demo receive raw-frames counters rping peer outside check test test-long campaign lint bench \
	emit timing estimate seeds limits bitstream selftest netlist formal equal mutants ip ip-check vm-test live guest \
	live-rpc live-rpc-long generate check-generated figures clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

tools: ## installs the pinned tools into .tools/venv (quick if they are there)
	@.ci/install-tools

demo: tools ## plays a capture of another iWARP stack through the verilated core and the model
	cargo build --release --package rnic-testbench
	@$(RNIC) play $(CAPTURE)

receive: tools ## serves the device over vfio-user; a driver process receives CAPTURE into its memory
	cargo build --release --package rnic-testbench --package rnic-examples --bin rnic --bin receive
	@host-driver/examples/run.sh receive $(CAPTURE)

raw-frames: tools ## a driver process sends and receives Ethernet frames through the served device
	cargo build --release --package rnic-testbench --package rnic-examples --bin rnic --bin raw_frames
	@host-driver/examples/run.sh raw_frames

counters: tools ## a driver process opens the served device, uses it, and prints its counters
	cargo build --release --package rnic-testbench --package rnic-examples --bin rnic --bin counters
	@host-driver/examples/run.sh counters

# ARGS goes to both ends: "--markers --revision 1 -C 100 -S 4096 -v"; rping --help lists them. --v6
# is this command's own: both ends speak IPv6.
rping: tools ## two devices, a hub, and rping at either end (DUT=model or rtl, ARGS="--v6 --markers --revision 1")
	cargo build --release --package rnic-testbench --package rnic-examples --bin rnic --bin rping
	@host-driver/examples/rping.sh --dut $(or $(DUT),model) $(ARGS)

# The programs of rping, and the peer that misbehaves; ARGS are options of `rnic peer`.
peer: tools ## a peer that misbehaves on purpose against rping on a device in software (ARGS="--case crc-payload")
	cargo build --release --package rnic-testbench --package rnic-examples --bin rnic --bin rping
	@host-driver/examples/peer.sh $(ARGS)

outside: ## an example builds outside of the workspace, with the driver and a device alone
	@host-driver/examples/outside.sh

CHECKS := python3 .ci/checks

check: tools ## the inner loop: tests and lints of what changed since the last green `make test`, samples of the rest
	@$(CHECKS) check

test: tools ## format, lints and all tests in 20 minutes; ends with "N passed, N failed"
	@$(CHECKS) test

test-long: tools ## the same at all counts, with the driver in a guest and the core for other flows
	@$(CHECKS) test-long

campaign: tools ## long checks in parts, kept by commit: PART=NAME runs one; without PART, a list of them
	@python3 .ci/checks/campaign.py $(PART)

lint: ## format, clippy and rustdoc, no warning allowed
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --document-private-items --quiet

bench: tools ## cycles a frame, latency and simulation speed (WIDTH=64, 128 or 512)
	@$(RNIC) bench --width $(WIDTH)

emit: ## writes the core's Verilog to build/emit-wWIDTH/rnic.v (WIDTH=64, CONNECTIONS=1024)
	@$(RNIC) emit --width $(WIDTH) --connections $(CONNECTIONS) --out build/emit-w$(WIDTH)

# What `make ip` writes; the check has a folder of its own.
OUT ?= build/ip-w$(WIDTH)

ip: ## the core in a folder for other people's flows: OUT=build/ip-wWIDTH (WIDTH=64, CONNECTIONS=1024)
	@$(RNIC) emit --ip --width $(WIDTH) --connections $(CONNECTIONS) --out $(OUT)

# The smallest build: Verilator and the C++ compiler take the least time for it.
ip-check: tools ## that folder outside of the tree: lint, FuseSoC, a cocotb test, cycles a second
	@cargo build --release --quiet --package rnic-testbench --bin rnic
	@$(RNIC) emit --ip --width $(WIDTH) --connections 256 --regions 256 --out build/ip-check
	@$(VENV)/python3 hdl/ip/check build/ip-check

# The device with 1,024 connections needs more block RAMs than the part has.
timing: CONNECTIONS := 512
timing: tools emit ## Fmax, size, worst path on an ECP5-85k, 512 connections (WIDTH=64 or 128)
	@$(VENV)/python3 constraints/timing.py --seed $(or $(SEED_$(WIDTH)),1) \
		--out build/timing-w$(WIDTH) build/emit-w$(WIDTH)/rnic.v

estimate: CONNECTIONS := 512
estimate: tools emit ## the same before routing, in minutes: late paths by room (WIDTH=64 or 128)
	@$(VENV)/python3 constraints/estimate.py --seed $(or $(SEED_$(WIDTH)),1) \
		--out build/estimate-w$(WIDTH) build/emit-w$(WIDTH)/rnic.v

seeds: CONNECTIONS := 512
# An estimate is read for what it names, not for its MHz, so it is no document.
SEEDS_PAGE = $(if $(ESTIMATE),build/seeds-w$(WIDTH)/estimated,docs/timing/w$(WIDTH)$(if $(ONCE),-once))
seeds: tools emit ## Fmax and late rooms at five seeds, a page in docs/timing (WIDTH; ONCE=1: without rerouting; ESTIMATE=1: before routing)
	@$(VENV)/python3 constraints/seeds.py $(if $(ESTIMATE),--estimate) $(if $(ONCE),--once) \
		--placer $(or $(PLACER_$(WIDTH)),heap) \
		--document $(SEEDS_PAGE).md --out build/seeds-w$(WIDTH) build/emit-w$(WIDTH)/rnic.v

limits: tools ## where late paths begin, at each seed that `make seeds ONCE=1` has routed: a table of docs/timing/limits.md
	@$(VENV)/python3 constraints/limits.py --document docs/timing/limits.md \
		$(or $(wildcard docs/timing/w64-once.jsonl docs/timing/w128-once.jsonl),docs/timing/w64-once.jsonl)

# Boards are those of constraints/boards.
BOARD ?= ecp5-evn

bitstream: tools ## the self-test of the whole device as a bitstream: build/BOARD/BOARD.bit (BOARD=ecp5-evn)
	cargo build --release --package rnic-testbench --bin rnic
	@$(RNIC) emit --board $(BOARD) --out build/$(BOARD)
	@$(VENV)/python3 constraints/bitstream.py --board $(BOARD) --out build/$(BOARD) build/$(BOARD)/board.v

selftest: tools ## that self-test in simulation, at the board's pins (DUT=rtl or netlist)
	cargo build --release --package rnic-testbench --bin rnic
	@$(RNIC) selftest --dut $(or $(DUT),rtl)

# In order; out of order with loss and markers; writes that are refused.
netlist: tools ## plays three captures through the synthesised netlist and the model
	cargo build --release --package rnic-testbench --bin rnic
	@$(RNIC) play --dut netlist $(CAPTURE) testbench/captures/mk-loss.pcap
	@$(RNIC) play --dut netlist --regions testbench/captures/mk-aligned-refused.toml \
		testbench/captures/mk-aligned.pcap

formal: tools ## proofs on the blocks' emitted Verilog, and on broken designs, which must fail
	@$(RNIC) emit --width 64 --out build/emit-w64
	@$(RNIC) emit --width 64 --reads --out build/emit-w64
	@$(RNIC) emit --width 64 --transmit --out build/emit-w64
	@$(VENV)/python3 formal/prove.py --out build/formal build/emit-w64/rnic.v build/emit-w64/reads.v \
		build/emit-w64/transmit.v

equal: tools emit ## proves that the core behaves as the Verilog in OLD, whatever the names
	@$(VENV)/python3 formal/equal.py $(OLD) build/emit-w$(WIDTH)/rnic.v

mutants: tools ## single changes of the emitted Verilog, each of which a check must catch
	@mkdir -p build
	@$(RNIC) mutants --json build/mutants.json

vm-test: tools ## the driver in a Linux guest (QEMU, IOMMU, /dev/vfio) on the served device
	@testbench/vm/vm-test

LIVE_PROGRAMS := --package rnic-testbench --package rnic-examples --bin rnic --bin rping --bin bandwidth

live: tools ## Linux' software iWARP in a guest (QEMU) talks to the served device: a table (ROWS=RTL: some rows; PEER=1: the cases of rnic peer)
	cargo build --release $(LIVE_PROGRAMS)
	@python3 testbench/vm/live $(if $(PEER),--peer) $(ROWS)

guest: tools ## the shell of that guest, and a wire for our programs: rping of Linux against ours, by hand
	cargo build --release $(LIVE_PROGRAMS)
	@python3 testbench/vm/live/shell.py

live-rpc: tools ## Linux' NFS client and server in that guest, over RDMA with ours: a table (ROWS=RTL: some rows)
	cargo build --release --package rnic-testbench --package rnic-examples \
		--bin rnic --bin nfs_server --bin nfs_copy --bin rpc_ping
	cargo build --release --package rnic-rpcrdma --example every_type
	@python3 testbench/vm/live_rpc $(if $(LONG),--long) $(ROWS)

live-rpc-long: ## 20 cuts, two mounts at once, everything over IPv6 (ROWS=cuts: some rows)
	@$(MAKE) --no-print-directory live-rpc LONG=1

generate: ## regenerates docs/registers.md, docs/conformance.md, the tables of docs/security.md and docs/verification.md
	UPDATE_DOCS=1 cargo test --quiet --no-fail-fast $(GENERATED)

check-generated: ## fails if a generated document is out of date
	@cargo test --quiet --no-fail-fast $(GENERATED)

figures: ## lists the figures of docs/figures.md, and which are older than what they measure
	@python3 docs/figures.py

clean: ## removes target/ and build/ but not .tools/
	cargo clean --quiet
	rm -rf build
