# carryon needs Go (see CONTRIBUTING.md for the versions) and make, nothing else. The race detector also needs a C
# compiler; without one, `make check` tests without the detector.

DEMO     = comparison
ARGS     =
RACE     = auto
PAIRS    = 400
ONLY     =
PLATFORMS =
BENCH    = .
STREAMS  = 20000
SLOW     = 2000
COUNT    = 1
FUZZTIME = 10s
VERSION  = v0.1.0

LINT         = github.com/golangci/golangci-lint/v2/cmd/golangci-lint
LINT_VERSION = v2.15.0

# Every folder with a go.mod is a module; hidden folders and testdata are skipped.
MODULES = find . \( -name '.?*' -o -name testdata \) -prune -o -name go.mod -print | sort -t / -k 3

# $(EACH) commands $(DONE) runs the commands in each module, with $$dir as the module's folder and $$root as the
# repository's, and fails at the end if a command set failed=1. A test module may need a newer Go than carryon does;
# without that Go, it is left out. $$modules may name the modules, instead of all.
EACH = root=$$PWD; for mod in $${modules:-$$($(MODULES))}; do dir=$${mod%/go.mod}; cd "$$root/$$dir" || exit 1; \
	[ "$$dir" = . ] || echo "==> $$dir"; \
	if [ "$$dir" != . ] && why=$$(go list -m 2>&1 >/dev/null | grep 'requires go >='); then echo "    left out: $$why"; continue; fi;
DONE = done; exit $${failed:-0}

# carryon is pure Go: a missing or broken C compiler must not matter.
PURE = CGO_ENABLED=0; export CGO_ENABLED

.PHONY: agents some-agents api docs docs-check release-check cross versions help demo test test-all linear bench micro fuzz faults soak lint cover fmt tidy consumer check picture recording screenshots clean tools need-go

help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

demo: need-go ## Run an example: DEMO=comparison, ARGS=its arguments
	@if [ ! -f 'examples/$(DEMO)/main.go' ]; then \
		echo 'There is no example "$(DEMO)". Try one of:' $$(cd examples && ls -d */main.go | cut -d / -f 1); exit 1; \
	fi
	@$(PURE); cd 'examples/$(DEMO)' && go run . $(ARGS)

test: need-go ## Test the library and the command, quickly: ARGS='-run X'
	@$(PURE); go test -short $(ARGS) ./... || failed=1; \
	cd cmd/carryon && go test -short $(ARGS) ./... || failed=1; exit $${failed:-0}

test-all: need-go ## Test every module in full, and what programs use again with the race detector, quickly: RACE=auto|on|off
	@race=-race; \
	if [ '$(RACE)' = off ]; then race=; \
	elif [ '$(RACE)' != on ] && ! go build -race runtime/cgo >/dev/null 2>&1; then race=; \
		echo 'No race detector here (it needs cgo, a C compiler and a supported platform): testing without -race.'; \
	fi; \
	[ "$$race" ] || { $(PURE); }; \
	export GORACE="$${GORACE:-atexit_sleep_ms=0}"; \
	for server in redis-server initdb; do \
		command -v $$server >/dev/null || ls /usr/lib/postgresql/*/bin/$$server >/dev/null 2>&1 || \
			echo "No $$server here: the stores are not tested with a real one."; \
	done; \
	command -v prometheus >/dev/null || echo 'No prometheus here: the dashboard is not tested with a real one.'; \
	command -v chromium >/dev/null || echo 'No chromium here: the page of the command is not tested in a browser.'; \
	$(EACH) case $$dir in \
		./conformance*|./scripts/*) CGO_ENABLED=0 go test -shuffle=on $(ARGS) ./... ;; \
		*) CGO_ENABLED=0 go test -shuffle=on $(ARGS) ./... && { [ -z "$$race" ] || go test $$race -short -shuffle=on $(ARGS) ./...; } ;; \
	esac || failed=1; $(DONE)

linear: need-go ## Check that hostile input takes time in proportion to its size (benchmarks)
	@$(PURE); go test -run '^$$' -bench 'Linear$$' -benchtime 1x $(ARGS) \
		$$(grep -rl --include='*_test.go' 'measure\.Linear(' . | xargs -n 1 dirname | sort -u)

bench: need-go ## Measure speed and size, for docs/benchmarks.md; fails if a promise is missed: PAIRS=400, ONLY=part of a name
	@$(PURE); (cd cmd/carryon && go build -o ../../.bin/carryon .) && cd conformance && go build -o ../.bin/bench ./bench && \
		../.bin/bench -carryon ../.bin/carryon -pairs $(PAIRS) -only '$(ONLY)' -write ../docs/benchmarks.md

micro: need-go ## Run the Go benchmarks of every package: BENCH=pattern, COUNT=1
	@$(PURE); \
	$(EACH) go test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) $(ARGS) ./... || failed=1; $(DONE)

fuzz: need-go ## Run each fuzz target for FUZZTIME=10s
	@$(PURE); \
	$(EACH) list=$$(go test -list '^Fuzz' ./...) || { echo "$$list"; failed=1; }; \
		echo "$$list" | awk '/^Fuzz/ { name[n++] = $$1 } /^ok/ { for (i = 0; i < n; i++) print $$2, name[i]; n = 0 }' | { \
			while read -r pkg name; do \
				echo "$$name in $$pkg"; \
				go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$pkg" </dev/null || failed=1; \
			done; exit $${failed:-0}; } || failed=1; \
	$(DONE)

faults: need-go ## Break answers at every byte, and make hostile ones, for every Go client (long; make test-all runs a sample)
	@$(PURE); go test -count=1 -timeout 2h \
			-run 'TestAnswersThatFailAnywhere|Test.*ThatBreaksOff|TestContinuationThatDiesAnywhere|TestResponsesThatAreDamaged|TestErrorOfTheBody|TestHalfACall|TestEventsAside|TestTwoCallsKeepTheRules|TestSessionsKeepTheirRules' \
			./adapters/transport ./internal/wire/chatcompletions ./internal/wire/messages ./internal/wire/responses ./adapters/langchaingo ./adapters/openai ./middleware -args -sample 1 && \
		cd conformance && go test -count=1 -run 'TestAnswersThatFailAnywhere|TestHostileTurns' -timeout 2h . -args -sample 1 -conversations 20000 && \
		cd ../cmd/carryon && go test -count=1 -run 'ThatBreaksOff|WhatCannotBeAnswered|BadTargets|CloseEnds|TwoHundred' ./internal/tunnel

soak: need-go ## Send many streams through the proxy, one in ten failing: STREAMS=20000
	@$(PURE); cd cmd/carryon && go test -count=1 -v -run TestSoak ./internal/proxy -args -streams $(STREAMS)

load: need-go ## Keep many slow streams open through the proxy at once: SLOW=2000
	@$(PURE); cd cmd/carryon && go test -count=1 -v -run TestLoad . -args -slow $(SLOW)

agents: need-go ## Run real agents with carryon and without (needs npm and 2.5 GB): ONLY=expression for rows of the table
	@$(PURE); cd conformance && go build -o ../.bin/agents ./agents && cd .. && \
		npm install --no-save --no-audit --no-fund --prefix conformance/agents && \
		.bin/agents -only '$(ONLY)' $(if $(ONLY),,-write docs/agents.md)

some-agents: need-go ## Run three real agents (needs npm and 1 GB, else leaves them out)
	@scripts/some-agents

lint: tools ## Check style and layering with the pinned golangci-lint, which vets as well
	@$(PURE); .bin/golangci-lint fmt --diff || { failed=1; echo 'Not formatted: run "make fmt".'; }; \
	$(EACH) "$$root/.bin/golangci-lint" run ./... || failed=1; $(DONE)

cover: need-go ## Measure coverage of the main module: total here, details in cover/
	@$(PURE); mkdir -p cover; \
	packages=$$(go list ./... | grep -v /examples/ | paste -s -d , -) && \
	go test -covermode set -coverpkg "$$packages" -coverprofile cover/cover.out ./... >cover/test.log || { cat cover/test.log; exit 1; }
	@go tool cover -html cover/cover.out -o cover/index.html
	@go tool cover -func cover/cover.out >cover/functions.txt
	@awk 'END { print "Covered: " $$NF " of the statements. Function by function: cover/functions.txt; line by line: cover/index.html." }' cover/functions.txt

fmt: tools ## Format the code
	@.bin/golangci-lint fmt

tidy: need-go ## Check that every go.mod and go.sum is tidy
	@$(EACH) "$$root/scripts/tidy" || { echo "Not tidy: run \"go mod tidy\" in $$dir."; failed=1; }; $(DONE)

api: need-go ## Compare the exported API with the last release; fails if the changelog does not name a change
	@$(PURE); scripts/compare-api

cross: need-go ## Build and vet what programs use for other platforms: PLATFORMS="windows/amd64 darwin/arm64"
	@scripts/cross $(PLATFORMS)

versions: need-go ## Test with the oldest and newest Go, and the newest SDKs, where the module proxy has them
	@scripts/versions

consumer: need-go ## Build and test the published modules as programs get them: from a module proxy, outside of the repository
	@scripts/consumer $(ARGS)

release-check: need-go ## Rehearse a release on a clone of the last commit, as users of the tag would meet it: VERSION=v0.1.0
	@$(PURE); cd scripts/release && go run . check -version '$(VERSION)' -work ../../.bin/release

docs: need-go ## Write the parts of README and docs/ that are made from the code
	@$(PURE); cd conformance && go test -count=1 -run TestRegionsAreCurrent ./docs -args -write

docs-check: need-go ## Check README and docs/: links, snippets, commands, numbers, tables (make check does it too)
	@$(PURE); cd conformance && go test -count=1 $(ARGS) ./docs

check: test test-all lint tidy api ## Everything a change has to pass: the tests of every module, lint, tidy, api

picture: need-go ## Redraw the README's picture from a run of the demo
	@$(PURE); cd conformance && go build -o ../.bin/picture ./docs/picture && cd .. && .bin/picture

recording: need-go ## Redraw docs/run.svg from a run of Claude Code in a terminal (needs npm)
	@$(PURE); cd conformance && go build -o ../.bin/agents ./agents && go build -o ../.bin/picture ./docs/picture && cd .. && \
		npm install --no-save --no-audit --no-fund --prefix conformance/agents && \
		.bin/agents -only 'claude.*subscription.*terminal' -record .bin/recording && .bin/picture -screen .bin/recording

screenshots: need-go ## Retake the screenshots of the command's page, in Chromium
	@$(PURE); cd conformance/page && go run ./screenshots ../../docs

clean: ## Remove reports, profiles and test binaries (.bin/ stays: it is slow to build)
	@rm -rf cover
	@find . \( -name '.?*' -o -name testdata \) -prune -o -type f \( -name '*.test' -o -name '*.out' -o -name '*.prof' \) -exec rm -f {} +

# Installs the linter unless .bin/ has this version of it, built with a Go no older than the one in use.
tools: need-go
	@if ! go version -m .bin/golangci-lint 2>/dev/null | awk -v go="$$(go env GOVERSION)" ' \
		function minor(v) { sub(/.*go1\./, "", v); return int(v) } \
		NR == 1 { fresh = minor($$0) >= minor(go) } \
		$$1 == "mod" { pinned = ($$3 == "$(LINT_VERSION)") } \
		END { exit !(fresh && pinned) }'; then \
		echo 'Installing golangci-lint $(LINT_VERSION) into .bin/ (once, a few minutes).'; \
		GOBIN="$$PWD/.bin" GOOS= GOARCH= CGO_ENABLED=0 go install $(LINT)@$(LINT_VERSION) || \
			{ echo 'Could not install it: that takes the module proxy, and a Go that is new enough for the linter.'; exit 1; }; \
	fi

need-go:
	@command -v go >/dev/null || { echo 'Go is missing: https://go.dev/doc/install'; exit 1; }
