# Verbs only; each brings what it needs. `make` alone lists them.
WIDTH ?= 64
# Where `make timing` gets its answer from; both widths are goals on this part.
VENV := .tools/venv/bin
RNIC := cargo run --release --quiet --package rnic-testbench --bin rnic --
CAPTURE := testbench/captures/rping-v4-crc.pcap
# Seed of placement for each width: one that meets the goal (docs/adr/0011).
SEED_64 := 2
SEED_128 := 2
# Each of their tests that makes a document has that word in its name.
GENERATED := --package rnic-testbench --test registers --test conformance --test attacks document

.DEFAULT_GOAL := help
.PHONY: help tools demo test lint bench emit timing formal equal mutants generate check-generated clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

tools: ## the pinned tools into .tools/venv (quick when they are there)
	@.ci/install-tools

demo: tools ## plays a capture of a foreign stack through the verilated core and the model
	cargo build --release --package rnic-testbench
	@$(RNIC) play $(CAPTURE)

test: tools ## format, lints and all tests; ends with "N passed, N failed"
	@.ci/test

lint: ## format, clippy and rustdoc, no warning allowed
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --document-private-items --quiet

bench: tools ## cycles a frame, latency and simulation speed (WIDTH=64, 128 or 512)
	@$(RNIC) bench --width $(WIDTH)

emit: ## Verilog of the core into build/emit-wWIDTH/rnic.v (WIDTH=64, 128 or 512)
	@$(RNIC) emit --width $(WIDTH) --out build/emit-w$(WIDTH)

timing: tools emit ## Fmax, size, worst path on an ECP5-85k (WIDTH=64 or 128)
	@$(VENV)/python3 constraints/timing.py --seed $(or $(SEED_$(WIDTH)),1) \
		--out build/timing-w$(WIDTH) build/emit-w$(WIDTH)/rnic.v

formal: tools ## proofs on the emitted Verilog of the blocks, and broken designs that must fail
	@$(RNIC) emit --width 64 --out build/emit-w64
	@$(VENV)/python3 formal/prove.py --out build/formal build/emit-w64/rnic.v

equal: tools emit ## proves that the core behaves as the Verilog in OLD does, whatever its names
	@$(VENV)/python3 formal/equal.py $(OLD) build/emit-w$(WIDTH)/rnic.v

mutants: tools ## single changes of the emitted Verilog, each of which a check must catch
	@mkdir -p build
	@$(RNIC) mutants --json build/mutants.json

generate: ## writes docs/registers.md, docs/conformance.md and the table of docs/security.md anew
	UPDATE_DOCS=1 cargo test --quiet --no-fail-fast $(GENERATED)

check-generated: ## fails if a generated document is not what its source gives
	@cargo test --quiet --no-fail-fast $(GENERATED)

clean: ## removes target/ and build/; the tools in .tools/ stay
	cargo clean --quiet
	rm -rf build
