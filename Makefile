# The front door. `make help` lists what there is; CMakePresets.json has the builds behind it.
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
SECONDS ?= 60
QUIPU ?= build/quipu
QUIPU_CORPORA ?= ../shared/corpora

# Only the first configuration of a build directory looks at this.
configure = CMAKE_GENERATOR="$$(command -v ninja >/dev/null && echo Ninja || echo 'Unix Makefiles')" \
	cmake --log-level=NOTICE --preset
compile = cmake --build --parallel $(JOBS) --preset
runtests = ctest --no-label-summary --parallel $(JOBS) --preset

.PHONY: help run test build bench fuzz asan tsan vendor-check install packages format check clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

run: build ## build the command line and run the demonstration
	@tools/demo.sh build/quipu

test: ## build and run all tests
	@tools/install_packages.sh test
	@$(configure) dev
	@$(compile) dev
	@$(runtests) dev

build: ## the release binary, at build/quipu
	@tools/install_packages.sh build
	@$(configure) release
	@$(compile) release

bench: ## all benchmarks; one table at the end
	@tools/install_packages.sh test
	@$(configure) dev
	@$(compile) bench
	@for binary in build/bench/micro/*; do "$$binary" || exit 1; done
	@build/bench/quipu_bench

fuzz: ## run every fuzzer for SECONDS=60
	@tools/install_packages.sh all
	@$(configure) asan-ubsan
	@$(compile) fuzz
	@tools/run_fuzzers.sh build/asan-ubsan $(SECONDS) $(JOBS)

asan: ## all tests with AddressSanitizer and UndefinedBehaviorSanitizer
	@tools/install_packages.sh all
	@$(configure) asan-ubsan
	@$(compile) asan-ubsan
	@$(runtests) asan-ubsan

tsan: ## the tests that use threads, with ThreadSanitizer
	@tools/install_packages.sh all
	@$(configure) tsan
	@$(compile) tsan
	@$(runtests) tsan

vendor-check: ## compare with the agents' own loaders, from npm; only some: AGENTS="claude pi"
	@tools/install_packages.sh build
	@$(configure) release
	@$(compile) release
	@node tools/vendor_check/run.mjs "$(QUIPU)" "$(QUIPU_CORPORA)" build/vendor $(AGENTS)

install: build ## install library, headers, command line, manual to PREFIX=/usr/local
	@cmake --install build --prefix "$(PREFIX)"

packages: ## install what builds and tests need (Debian, Ubuntu)
	@tools/install_packages.sh all

format: ## clang-format all sources
	@tools/check_format.sh --fix

check: build ## the checks that need no test run: format, layers, headers, tree, documents
	@tools/check_format.sh
	@tools/check_layers.py
	@tools/check_tree.py
	@tools/check_headers.sh $(JOBS)
	@tools/check_docs.py build/quipu

clean: ## remove build/
	@rm -rf build
