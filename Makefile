# Go and make are enough. "make test" is the one command that checks everything.
export CGO_ENABLED := 0
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
CORPUS ?= $(abspath ../shared/corpus)
export CORPUS
# The compiler collects its garbage only once it has taken a lot: an eighth less time from nothing.
GOBUILD := GOGC=off GOMEMLIMIT=2GiB go build -trimpath

# The control plane reports this version; it is that of cmd/sandbox/go.mod.
KUBERNETES := v1.37.2
STAMP := k8s.io/component-base/version
SANDBOX_LDFLAGS := -s -w -X $(STAMP).gitVersion=$(KUBERNETES) -X $(STAMP).gitMajor=1 -X $(STAMP).gitMinor=37
# What the built control plane depends on, as one checksum.
SANDBOX_SUM = { find cmd/sandbox -type f ! -name '*_test.go' | LC_ALL=C sort | xargs cat; echo '$(SANDBOX_LDFLAGS)'; go version; } | cksum
GOLANGCI_VERSION := v2.15.0
GOLANGCI := golangci-lint-$(GOLANGCI_VERSION)

.PHONY: help build docs picture image release sizes packager piped-plugin sandbox kubectl control-plane gcs helm olm argocd kapp demo test whole race soak upstream bench profile golden lint clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /  \1	/p' Makefile

build: ## bin/kubectl-operator
	$(GOBUILD) -ldflags '-s -w -X main.version=$(VERSION)' -o bin/kubectl-operator ./cmd/kubectl-operator

docs: ## bin/docs, a man page and Markdown for every command and topic, and completions
	@rm -rf bin/docs && go run ./cmd/docs -out bin/docs -version '$(VERSION)'

PICTURE := tmux -L kubectl-operator-picture
picture: build sandbox ## .github/review.svg, the screen of the demo as the README shows it; takes tmux
	$(GOBUILD) -o bin/kubectl-operator-demo ./cmd/demo
	cd .tools && $(GOBUILD) -o ../bin/picture ./picture
	$(PICTURE) -f /dev/null new -d -x 104 -y 26 'TERM=xterm-256color bin/kubectl-operator-demo'
	for i in $$(seq 120); do $(PICTURE) capture-pane -p | grep -q 'approve:' && break; sleep 1; done; \
	$(PICTURE) capture-pane -e -p | bin/picture > .github/review.svg; $(PICTURE) kill-server

# The same programs and certificates are the same image, byte for byte: its
# digest is printed.
IMAGE_PLATFORMS ?= linux/$(shell go env GOARCH)
IMAGE_CERTIFICATES ?= $(wildcard /etc/ssl/certs/ca-certificates.crt)

image: ## bin/image, an OCI image layout of the program for init containers; IMAGE_PLATFORMS='linux/amd64 linux/arm64'
	@rm -rf bin/image; set -e; programs=; for platform in $(IMAGE_PLATFORMS); do \
	  program=bin/image-$$(echo $$platform | tr / -); programs="$$programs $$platform=$$program"; \
	  GOOS=$${platform%%/*} GOARCH=$${platform##*/} $(GOBUILD) -buildvcs=false -ldflags '-s -w -buildid= -X main.version=$(VERSION)' -o $$program ./cmd/kubectl-operator; \
	done; \
	$(GOBUILD) -o bin/kubectl-operator-image ./cmd/image; \
	bin/kubectl-operator-image -out bin/image -tag '$(VERSION)' -certificates '$(IMAGE_CERTIFICATES)' $$programs

# The same commit is the same release, byte for byte: paths, names and times of this
# machine are in no file of it. It takes the version of Go that built it before.
RELEASE ?= bin/release
RELEASE_PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
COMMIT = $(shell git rev-parse HEAD)
COMMIT_TIME = $(shell git log -1 --format=%ct)
RELEASE_LDFLAGS = -s -w -buildid= -X main.version=$(VERSION) -X main.commit=$(COMMIT) -X main.controlPlane=$(CONTROL_PLANE)

release: docs packager ## bin/release, the files of a release: archives, deb, rpm, apk, SBOM, checksums, manifests of krew and Homebrew; RELEASE_PLATFORMS=linux/amd64
	@rm -rf $(RELEASE); set -e; programs=; for platform in $(RELEASE_PLATFORMS); do \
	  program=bin/release-$$(echo $$platform | tr / -); programs="$$programs $$platform=$$program"; echo "building for $$platform"; \
	  GOOS=$${platform%%/*} GOARCH=$${platform##*/} $(GOBUILD) -buildvcs=false -ldflags '$(RELEASE_LDFLAGS)' -o $$program ./cmd/kubectl-operator; \
	done; \
	$(GOBUILD) -o bin/kubectl-operator-release ./cmd/release; \
	bin/kubectl-operator-release -version '$(VERSION)' -commit $(COMMIT) -time $(COMMIT_TIME) -docs bin/docs -packager bin/kubectl-operator-packages -out $(RELEASE) $$programs; \
	cat $(RELEASE)/checksums.txt

sizes: ## what the program is linked with, as tables: the code of each module, and what each alone brings along
	@$(GOBUILD) -o bin/kubectl-operator-symbols ./cmd/kubectl-operator; cd .tools && $(GOBUILD) -o ../bin/sizes ./sizes; cd .. && bin/sizes bin/kubectl-operator-symbols ./cmd/kubectl-operator

packager: ## bin/kubectl-operator-packages, which makes deb, rpm and apk: half a minute once, then cached
	@mkdir -p bin; cd .tools/packages && $(GOBUILD) -o ../../bin/kubectl-operator-packages .

# A module of its own: nothing else needs PipeCD's SDK.
piped-plugin: ## bin/piped-plugin, which piped of PipeCD runs, and the licences of what it is linked with: help pipecd
	@mkdir -p bin; cd cmd/piped-plugin && $(GOBUILD) -ldflags '-s -w -X main.version=$(VERSION)' -o ../../bin/piped-plugin .
	@go run ./cmd/release -third-party bin/piped-plugin.THIRD_PARTY -source cmd/piped-plugin linux/amd64=bin/piped-plugin

# A build that prints how far it is: "go build -v" prints each package that it compiles.
# Those that are cached are not counted, so that the number of all is a bound.
COUNTED = all=$$(go list -deps $(1) | wc -l); { $(GOBUILD) -v $(2) 2>&1 || echo failed; } | awk -v all=$$all ' \
	/^failed$$/ { failed = 1; next } \
	/^[a-z0-9.\/_-]+$$/ { if (++n % 100 == 0) { print "  " n " packages compiled, of at most " all; fflush() } next } \
	{ print; fflush() } END { exit failed }'

sandbox: ## bin/kubectl-operator-sandbox, the embedded control plane: five minutes once, then cached
	@sum=$$($(SANDBOX_SUM)); \
	if [ "$$sum" = "$$(cat bin/.sandbox.sum 2>/dev/null)" ]; then exit 0; fi; \
	echo "building the control plane: about five minutes on two cores, once"; mkdir -p bin; cd cmd/sandbox && \
	{ $(call COUNTED,.,-ldflags '$(SANDBOX_LDFLAGS)' -o ../../bin/kubectl-operator-sandbox .); } && \
	{ $(call COUNTED,sigs.k8s.io/kwok/cmd/kwok,-ldflags '-s -w' -o ../../bin/kubectl-operator-sandbox-kwok sigs.k8s.io/kwok/cmd/kwok); } && \
	echo "$$sum" > ../../bin/.sandbox.sum

kubectl: ## bin/kubectl, of the version of the control plane, which tests compare with: a minute once, then cached
	@sum=$$($(SANDBOX_SUM)); \
	if [ "$$sum" = "$$(cat bin/.kubectl.sum 2>/dev/null)" ] && [ -x bin/kubectl ]; then exit 0; fi; mkdir -p bin; cd cmd/sandbox && \
	$(GOBUILD) -ldflags '$(SANDBOX_LDFLAGS)' -o ../../bin/kubectl k8s.io/kubernetes/cmd/kubectl && \
	echo "$$sum" > ../../bin/.kubectl.sum

# What "kubectl operator sandbox up" downloads where there is no checkout. A release
# pushes it and stamps its digest into the program: make release CONTROL_PLANE=IMAGE@DIGEST
CONTROL_PLANE ?=
CONTROL_PLANE_PLATFORMS ?= linux/$(shell go env GOARCH)

control-plane: ## bin/control-plane, an OCI image layout of the control plane, and its digest, for sandbox up --from; CONTROL_PLANE_PLATFORMS='linux/amd64 linux/arm64'
	@rm -rf bin/control-plane; set -e; programs=; for platform in $(CONTROL_PLANE_PLATFORMS); do \
	  out=$(CURDIR)/bin/control-plane-$$(echo $$platform | tr / -); mkdir -p $$out; export GOOS=$${platform%%/*} GOARCH=$${platform##*/}; \
	  (cd cmd/sandbox; $(GOBUILD) -buildvcs=false -ldflags '$(SANDBOX_LDFLAGS) -buildid=' -o $$out/kubectl-operator-sandbox .; \
	  $(GOBUILD) -buildvcs=false -ldflags '-s -w -buildid=' -o $$out/kubectl-operator-sandbox-kwok sigs.k8s.io/kwok/cmd/kwok); \
	  programs="$$programs $$platform=$$out/kubectl-operator-sandbox,$$out/kubectl-operator-sandbox-kwok"; \
	done; unset GOOS GOARCH; \
	$(GOBUILD) -o bin/kubectl-operator-image ./cmd/image; \
	bin/kubectl-operator-image -out bin/control-plane -tag '$(VERSION)' -name kubectl-operator-sandbox -label kubectl-operator.control-plane $$programs

gcs: ## bin/fake-gcs-server, which tests of gs:// read from: a minute once, then cached
	@mkdir -p bin; cd .tools && $(GOBUILD) -o ../bin/fake-gcs-server github.com/fsouza/fake-gcs-server

helm: ## bin/helm and bin/helm3, the real ones, with whose values, kustomizations and upgrades tests compare: two minutes once, then cached
	@mkdir -p bin; cd .tools && $(GOBUILD) -ldflags '-s -w' -o ../bin/helm helm.sh/helm/v4/cmd/helm
	@cd .tools/helm3 && $(GOBUILD) -ldflags '-s -w' -o ../../bin/helm3 helm.sh/helm/v3/cmd/helm

# OLM v0 itself and what serves a catalog to it, at the versions of .tools/olm/go.mod, and
# OLM's CRDs. Too long for "make test", which runs the tests with them where they are.
OLM := github.com/operator-framework/operator-lifecycle-manager
OLM_SUM = { cat .tools/olm/go.mod .tools/olm/go.sum .tools/olm/main.go; go version; } | cksum

argocd: ## bin/kubectl-operator-argocd, the engine of Argo CD for tests: five minutes once, then cached
	@mkdir -p bin; cd .tools/argocd && $(GOBUILD) -o ../../bin/kubectl-operator-argocd .

kapp: ## bin/kapp, the real one for tests: four minutes once, then cached
	@mkdir -p bin; cd .tools/kapp && $(GOBUILD) -ldflags '-s -w' -o ../../bin/kapp carvel.dev/kapp/cmd/kapp

olm: ## bin/olm-operator, bin/olm-catalog-operator and bin/olm-registry, the real OLM v0 for tests: three minutes once, then cached
	@sum=$$($(OLM_SUM)); \
	if [ "$$sum" = "$$(cat bin/.olm.sum 2>/dev/null)" ]; then exit 0; fi; mkdir -p bin; cd .tools/olm && \
	$(GOBUILD) -ldflags '-s -w' -o ../../bin/olm-registry . && \
	$(GOBUILD) -ldflags '-s -w' -o ../../bin/olm-catalog-operator $(OLM)/cmd/catalog && \
	$(GOBUILD) -ldflags '-s -w' -o ../../bin/olm-operator $(OLM)/cmd/olm && \
	for file in $$(go list -m -f '{{.Dir}}' $(OLM))/deploy/chart/crds/*.yaml; do echo ---; cat "$$file"; done >../../bin/olm-crds.yaml && \
	echo "$$sum" >../../bin/.olm.sum

# Flux' controllers and their CRDs, at the versions of .tools/flux: helm-controller with
# Helm 4, and with Helm 3 from a module of its own. Too long for "make test", which runs the
# tests with them where they are.
FLUX := github.com/fluxcd
FLUX_SUM = { cat .tools/flux/go.mod .tools/flux/go.sum .tools/flux/helm3/go.mod .tools/flux/helm3/go.sum; go version; } | cksum

flux: ## bin/flux-helm-controller, bin/flux-helm3-controller and bin/flux-kustomize-controller, the real ones for tests: ten minutes once, then cached
	@sum=$$($(FLUX_SUM)); \
	if [ "$$sum" = "$$(cat bin/.flux.sum 2>/dev/null)" ]; then exit 0; fi; mkdir -p bin; cd .tools/flux && \
	$(GOBUILD) -ldflags '-s -w' -o ../../bin/flux-helm-controller $(FLUX)/helm-controller && \
	$(GOBUILD) -ldflags '-s -w' -o ../../bin/flux-kustomize-controller $(FLUX)/kustomize-controller && \
	for file in $$(go list -m -f '{{.Dir}}/config/crd/bases' $(FLUX)/helm-controller $(FLUX)/kustomize-controller $(FLUX)/source-controller | sed 's,$$,/*.yaml,'); do \
	echo ---; cat "$$file"; done >../../bin/flux-crds.yaml && cd helm3 && \
	$(GOBUILD) -ldflags '-s -w' -o ../../../bin/flux-helm3-controller $(FLUX)/helm-controller && \
	echo "$$sum" >../../../bin/.flux.sum

# While the control plane is built for the first time, the review of the same package
# without a cluster is on the screen.
demo: build ## install mongodb from a catalog of our own into the sandbox; ARGS=--yes needs no terminal
	@test -e bin/.sandbox.sum || bin/kubectl-operator preview ./testdata/bundles/mongodb/1.11.0 --offline
	@$(MAKE) --no-print-directory sandbox
	$(GOBUILD) -o bin/kubectl-operator-demo ./cmd/demo
	@bin/kubectl-operator-demo $(ARGS)

# Some files are for one operating system: the build for another finds what lacks
# its counterpart. Fast tests are first. The second run is of those that -short leaves
# out, or makes shorter: against the control plane, of the screen in tmux, and long
# ones. Their names say so, see package slowtest; each test is in one of the runs.
# Two packages at a time: each starts several control planes of 0.9 GB. The first run
# has vetted all of them. Tests of random runs, of many like cases and of the whole
# corpus take a sample here, and all of it in "make soak", see slowtest. The tests of
# the plugin of PipeCD, which mostly wait, run beside them.
SLOW := ^Test(Cluster|Terminal|Slow)
SLOW_PACKAGES = $$(grep -rlE '^func $(SLOW:^%=%)' --include='*_test.go' --exclude-dir=piped-plugin . | xargs -n 1 dirname | sort -u)

# Scripts, and cells of tables that have too little in common for some to stand for all,
# come in three turns: the third that a run has follows from the number of commits, see
# slowtest.Turn. "make whole" has all three, as a plain "go test" has.
TURN ?= $(shell git rev-list --count HEAD 2>/dev/null)

# With more garbage before each collection, tests and control planes take a
# quarter less processor time, and a third more memory.
GOTEST := GOGC=400 go test

test: ## format, lint, fast tests, then tests against the control plane and in tmux
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "not formatted: $$unformatted"; exit 1; }
	@if $(MAKE) --no-print-directory bin/$(GOLANGCI); then $(MAKE) --no-print-directory lint; \
	else echo "skipped: the linter, which could not be built; go vet instead"; go vet ./...; fi
	GOOS=darwin go build ./...
	GOOS=windows go build ./cmd/kubectl-operator ./cmd/docs
	$(GOTEST) -skip '$(SLOW)' ./...
	cd cmd/sandbox && go vet ./internal/... && go test ./internal/...
	@$(MAKE) --no-print-directory build sandbox kubectl gcs helm packager docs
	@test -d "$(CORPUS)" || echo "skipped: tests on real bundles; no corpus at $(CORPUS)"
	@command -v tmux >/dev/null || echo "skipped: tests of the screen; tmux is not installed"
	@{ cd cmd/piped-plugin && go vet . && $(GOTEST) -timeout 20m .; } >bin/piped-plugin.log 2>&1 & plugin=$$!; status=0; set -x; \
	KUBECTL_OPERATOR_TURN='$(TURN)' $(GOTEST) -vet=off -p 2 -timeout 30m -run '$(SLOW)' $(SLOW_PACKAGES) || status=1; \
	wait $$plugin || status=1; cat bin/piped-plugin.log; exit $$status
	@$(RACE) $(RACED)

whole: ## make test with all three turns of scripts and tables: before a release, and each week
	@$(MAKE) --no-print-directory test TURN=

# The race detector needs a C compiler. "make test" runs the two tests with the most
# side by side, one of reading and one of applying; "make race" runs all. A race is a
# crash in the midst of an apply.
RACE = command -v $${CC:-gcc} >/dev/null || { echo "skipped: the race detector; no C compiler"; test -z "$$CI"; exit; }; \
	set -x; CGO_ENABLED=1 $(GOTEST) -race -p 2 -timeout 2h
RACED := -run '^(TestAPlanIsCheckedAgainByTwoAtOnce|TestClusterInstallUpgradeUninstall)$$' ./preview/engine ./install
RACES ?= ./preview/engine ./k8s/... ./install/... ./cmd/internal/cli

# Other packages measure memory and time, of which the detector takes many times more.
race: sandbox kubectl ## tests of the engine, of installing, of the client and of the commands with the race detector; RACES='-run TestX ./install'
	@$(RACE) $(RACES)

# What happens in a run follows from its number, so a failure names what to look
# at, and a soak can be run in slices: from the run KUBECTL_OPERATOR_SOAK_FROM on.
SOAK = go test -timeout 3h -v
soak: sandbox kubectl helm argocd kapp ## every danger in every disguise and package, every leaf of every kind, a million random key sequences, 1,000 random plans under random edits, 1,000 batches in danger, two users against each other, 300 random outages and 500 kills, kill -9 at every write, every forgery, signal and operator with webhooks, every bundle, 20,000 objects, 600 stops past the lease
	KUBECTL_OPERATOR_SOAK_RUNS=100 $(SOAK) -run 'TestSlowDangers|TestSlowSignsOfCode' ./preview/risk
	KUBECTL_OPERATOR_SOAK_RUNS=8 $(SOAK) -run TestSlowMatrix ./preview/risk
	KUBECTL_OPERATOR_SOAK_RUNS=1 $(SOAK) -run TestClusterMatrix ./preview/risk
	KUBECTL_OPERATOR_SOAK_RUNS=4 $(SOAK) -run TestSlowTableRows ./preview/risk
	KUBECTL_OPERATOR_SOAK_RUNS=1 $(SOAK) -run 'TestSlowEveryRealBundle|TestSlowNoFindingOfAChangedLeaf|TestSlowHeap|TestClusterGrants|TestClusterDefaults' ./preview/engine
	KUBECTL_OPERATOR_SOAK_RUNS=500 $(SOAK) -run TestSlowValuesAreThoseOfHelmTemplate ./cmd/internal/planning
	$(SOAK) -run '^TestCluster(Kubectl|ArgoCD|Kapp|Helm)' ./cmd/internal/planning
	KUBECTL_OPERATOR_SOAK_RUNS=30 $(SOAK) -run TestSlowChartsAreThoseOfKubectlKustomize ./preview/format/kustomize
	KUBECTL_OPERATOR_SOAK_RUNS=1 $(SOAK) -run 'TestSlowEveryLeafIsSeen|TestClusterNothingAnApplyChangesIsUnseen' ./install
	KUBECTL_OPERATOR_SOAK_RUNS=1000000 $(SOAK) -run TestSlowRandomEvents ./tui/review
	KUBECTL_OPERATOR_SOAK_RUNS=1 $(SOAK) -run 'FuzzPlanTexts|TestSlowCommandsOfTheScreen' ./tui/review
	KUBECTL_OPERATOR_SOAK_RUNS=1000 $(SOAK) -run 'TestClusterRandomPlans' ./install
	KUBECTL_OPERATOR_SOAK_RUNS=1000 $(SOAK) -run 'TestClusterBatches' ./install
	KUBECTL_OPERATOR_SOAK_RUNS=150 $(SOAK) -run 'TestClusterTwoActors' ./install
	KUBECTL_OPERATOR_SOAK_RUNS=1 $(SOAK) -run 'TestCluster(EveryWriteMayFail|EveryActionFromEveryStart|EveryDrift|UndoSurvives|InstallerRole|ManyObjects)' ./install
	KUBECTL_OPERATOR_SOAK_RUNS=300 $(SOAK) -run 'TestClusterRandomDisturbances/outages' ./cmd/internal/cli
	KUBECTL_OPERATOR_SOAK_RUNS=500 $(SOAK) -run 'TestClusterRandomDisturbances/kills' ./cmd/internal/cli
	$(SOAK) -run '^Test(SlowOfflineScripts|ClusterSharedScripts|ClusterScripts|ClusterCommandsOfRefusals)' ./cmd/internal/cli
	KUBECTL_OPERATOR_SOAK_RUNS=1 $(SOAK) -run '^TestClusterALargeCluster' ./cmd/internal/cli
	KUBECTL_OPERATOR_SOAK_RUNS=1 $(SOAK) -run '^Test(Cluster(Killed|Forge|Signals|Webhooks|PrintedCommands)|TerminalHowever|SlowPrintedCommands)' ./cmd/internal/cli
	KUBECTL_OPERATOR_SOAK_RUNS=300 $(SOAK) -p 1 -run 'TestClusterStoppedPast' ./install ./cmd/internal/cli
	$(MAKE) upstream

# What other systems ship, from clones of their repositories: the table of Flyte's plugins next
# to its newest tags; charts, applications and manifests at commits that the test names.
UPSTREAM = bin/upstream
upstream: sandbox kubectl olm helm ## run OLM v0 itself on what was reviewed here, compare what is known of Flyte's engines with its newest releases, and plan what upstream ships; UPSTREAM=a directory of clones
	@mkdir -p '$(UPSTREAM)'; cd '$(UPSTREAM)' && for repository in flyteorg/flyte flyteorg/flytepluginexample pipe-cd/pipecd raystack/charts kubernetes-sigs/krew-index; do \
	clone=$${repository#*/}; test -d "$$clone" || git clone --quiet --no-checkout "https://github.com/$$repository" "$$clone" || exit 1; \
	git -C "$$clone" fetch --quiet --tags || echo "the clone of $$repository is not renewed"; done
	@cd '$(UPSTREAM)' && for repository in $$(cut -f 1 '$(CURDIR)'/cmd/internal/planning/testdata/helmcharts.tsv | sort -u); do \
	clone=$$(echo $$repository | tr / +); test -d "$$clone" || git clone --quiet --no-checkout "https://github.com/$$repository" "$$clone" || exit 1; done
	UPSTREAM='$(abspath $(UPSTREAM))' go test -count=1 -timeout 1h -v ./cmd/internal/planning -run TestClusterHelmUpgradesAsPredicted
	FLYTE='$(abspath $(UPSTREAM))/flyte' go test -count=1 ./preview/flyte -run TestTheTableIsThatOfUpstream
	UPSTREAM='$(abspath $(UPSTREAM))' go test -count=1 ./cmd/internal/planning -run TestUpstreamFilesArePlanned
	go test -count=1 ./cmd/internal/cli -run TestClusterOLMScripts
	go test -count=1 -timeout 1h -v ./cmd/internal/planning -run TestClusterOLMv0UpgradesAsPredicted

# Limits that are missed are lines of the table; they fail nothing. Benchmarks next to
# other programs' code are a module of their own.
BENCH_PACKAGES = $$(grep -rl --include='*_test.go' '^func Benchmark' cmd preview install k8s tui | xargs -n 1 dirname | sort -u | sed 's,^,./,')
bench: build sandbox kubectl ## one table of the benchmarks: time, allocations, ratios to the peers of the same run; WORK=Planning
	@{ go test -run '^$$' -bench '$(or $(WORK),.)' -benchmem -p 1 $(BENCH_PACKAGES); \
	cd .tools && go test -run '^$$' -bench '$(or $(WORK),.)' -benchmem ./bench/; } 2>&1 | awk -f .tools/bench/table.awk

profile: ## bin/cpu.profile and bin/heap.profile of one benchmark; WORK=Planning/5000 IN=./preview/engine
	@mkdir -p bin; test -n '$(WORK)' || { echo 'name a benchmark, such as make profile WORK=Planning/5000'; exit 2; }
	go test -run '^$$' -bench '$(WORK)' -benchmem -o bin/profiled.test -cpuprofile bin/cpu.profile -memprofile bin/heap.profile $(or $(IN),./preview/engine)
	go tool pprof -top -nodecount 20 bin/profiled.test bin/cpu.profile
	@echo 'more: go tool pprof -http localhost: bin/profiled.test bin/cpu.profile (or bin/heap.profile)'

golden: sandbox kubectl ## rewrite golden files and recorded reads; read the difference before committing it
	go test $$(grep -rl --include='*_test.go' 'flag.Bool("update"\|tuitest\.' . | xargs -n 1 dirname | sort -u) -update

lint: bin/$(GOLANGCI) ## .golangci.yml; the linter is built at the pinned version once, three minutes
	bin/$(GOLANGCI) run --allow-parallel-runners ./...
	cd cmd/piped-plugin && ../../bin/$(GOLANGCI) run --allow-parallel-runners -c ../../.golangci.yml .

bin/$(GOLANGCI):
	@echo "building golangci-lint $(GOLANGCI_VERSION): three minutes on two cores, once"
	GOBIN=$(abspath bin) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	mv bin/golangci-lint $@

clean: ## remove bin/
	rm -rf bin
