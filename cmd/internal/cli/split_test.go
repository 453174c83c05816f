package cli_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// splitPackages are packages whose first version has a critical finding that a person
// accepts, and whose second changes its effect (VALUE) in a place that the finding does
// not quote.
var splitPackages = []struct{ name, text, was, is, shown string }{
	{"split-mutation", `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: split-mutation}
spec:
  failurePolicy: Ignore
  reinvocationPolicy: Never
  matchConditions: [{name: of-no-test, expression: "false"}]
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "VALUE"}}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: split-mutation}
spec: {policyName: split-mutation}
`, `Object{metadata: Object.metadata{labels: {'team': 'a'}}}`,
		`Object{metadata: Object.metadata{labels: {'team': 'a'}}, spec: Object.spec{hostPID: true, containers: [Object.spec.containers{name: 'log-shipper', ` +
			`image: 'registry.example.net/log-shipper:v1', securityContext: Object.spec.containers.securityContext{privileged: true}}]}}`, "privileged: true"},
	{"split-argocd", `
apiVersion: v1
kind: Namespace
metadata: {name: argocd}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-rbac-cm, namespace: argocd}
data: {policy.default: "VALUE"}
`, "role:readonly", "role:admin", "role:admin"},
	{"split-image", `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {none: none}
      containers: [{name: web, image: "VALUE", securityContext: {privileged: true}}]
`, "registry.example.com/web:v1", "registry.example.net/other:v9", "registry.example.net/other:v9"},
}

// version writes a version of a package, with one more object.
func (p *printing) version(dir, text, value, mode string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Join(p.dir, dir), 0o700); err != nil {
		p.t.Fatal(err)
	}
	text = strings.ReplaceAll(text, "VALUE", value) + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {mode: " + mode + "}\n"
	if err := os.WriteFile(filepath.Join(p.dir, dir, "all.yaml"), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// approving returns the command in a review that approves and applies it.
func (p *printing) approving(review string) string {
	p.t.Helper()
	for _, line := range commandsIn(review) {
		if strings.Contains(line, " --yes --approve ") {
			return line
		}
	}
	p.t.Fatalf("no command applies what this shows:\n%s", review)
	return ""
}

// expect carries out a command line, which must exit with a code and print the words, and
// returns its standard output.
func (p *printing) expect(line string, code int, words ...string) string {
	p.t.Helper()
	got := p.sh(line)
	if got.code != code {
		p.t.Fatalf("%s: exit code %d, want %d\n%s%s", line, got.code, code, got.stdout, got.stderr)
	}
	for _, word := range words {
		if !strings.Contains(got.stdout+got.stderr, word) {
			p.t.Errorf("%s: no %q in\n%s%s", line, word, got.stdout, got.stderr)
		}
	}
	return got.stdout
}

// A danger that is split over two versions is as critical in the second as in a first
// review: in a pull request, which compares the versions, and for --yes. If a pull
// request shows a finding as a warning because the older version has it too, its command
// does not approve it for a cluster with another version.
func TestClusterADangerSplitOverTwoVersionsNeedsApproval(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "upgrades by the commands that reviews print")
	box := sandboxtest.Borrow(t)
	for _, pack := range splitPackages {
		t.Run(pack.name, func(t *testing.T) {
			p := newPrinting(t, box.Kubeconfig())
			p.version("none", "", "", "a")
			p.version("v1", pack.text, pack.was, "a")
			p.version("v1b", pack.text, pack.was, "b")
			p.version("v2", pack.text, pack.is, "a")
			release := pack.name + " -n " + pack.name
			defer func() { p.expect("kubectl operator uninstall "+release+" --yes", 0) }()

			p.expect("kubectl operator install ./none "+release+" --yes --no-wait", 0)
			review := p.expect("kubectl operator preview ./v1b "+release+" --against ./v1 -o markdown --fail-on critical", 0)
			p.expect(p.approving(review)+" --no-wait", 5, "is not accepted")

			installed, ok := p.plan("kubectl operator preview ./v1 " + release)
			if !ok {
				t.Fatal("the first version is not planned")
			}
			p.expect("kubectl operator upgrade "+release+" ./v1 --no-wait --yes --approve "+installed.Digest+" --ruleset "+strconv.Itoa(preview.Ruleset), 0)
			review = p.expect("kubectl operator preview ./v2 "+release+" --against ./v1 -o markdown --fail-on critical", 5, "### Critical (", pack.shown)
			p.expect("kubectl operator upgrade "+release+" ./v2 --yes --no-wait", 5, "critical finding", "is not accepted")
			p.expect(p.approving(review)+" --no-wait", 0)
		})
	}
}

// An object of a kind that the cluster serves and no table knows stops --yes, until it is
// accepted: as the command of the review has it, or with the plan file that shows it.
func TestClusterAnObjectOfAnUnknownKindNeedsAcceptance(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "installs by the commands that reviews print")
	p := newPrinting(t, sandboxtest.Borrow(t).Kubeconfig())
	p.env = append(p.env, "KUBECTL="+sandboxtest.Kubectl(t))
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(p.dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("vendor.yaml", `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: nodetasks.unknown-kind.example.com}
spec:
  group: unknown-kind.example.com
  names: {plural: nodetasks, kind: NodeTask}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`)
	write("tasks/all.yaml", `
apiVersion: unknown-kind.example.com/v1
kind: NodeTask
metadata: {name: task}
spec: {mounts: ["/:/host"], asUser: root}
`)
	p.expect("kubectl apply -f vendor.yaml && kubectl wait --for condition=Established crd/nodetasks.unknown-kind.example.com", 0)
	defer func() { p.expect("kubectl delete -f vendor.yaml", 0) }()
	const release = "./tasks tasks -n unknown-kind"
	review := p.expect("kubectl operator preview "+release+" -o markdown", 0, "### Not checked (1)")
	p.expect("kubectl operator preview "+release+" --fail-on unknown", 5)
	p.expect("kubectl operator install "+release+" --yes", 5, "unknown finding unknown-kind/unknown-kind.example.com/NodeTask/unknown-kind/task=sha256:", "is not accepted")
	p.expect(p.approving(review), 0)
	p.expect("kubectl operator uninstall tasks -n unknown-kind --yes", 0)
	p.expect("kubectl operator preview "+release+" --out plan.tgz", 0)
	p.expect("kubectl operator install --plan plan.tgz --yes", 0)
	p.expect("kubectl operator uninstall tasks -n unknown-kind --yes", 0)
}
