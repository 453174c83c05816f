package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// The package of a release that is disturbed, in two versions: of its objects
// some stay, some change, one goes, one comes, and one is replaced.
const phasePackage = `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {mode: VERSION}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: only-VERSION}
data: {mode: VERSION}
---
apiVersion: v1
kind: Secret
metadata: {name: credentials}
data: {password: aHVudGVyMg==}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: op}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: op}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get], resourceNames: [VERSION]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: op}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: op}
subjects: [{kind: ServiceAccount, name: op}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: RELEASE, annotations: {example.com/version: VERSION}}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [list]}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.RELEASE.example.com, annotations: {example.com/version: VERSION}}
spec:
  group: RELEASE.example.com
  names: {kind: Thing, plural: things, singular: thing, listKind: ThingList}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: op}
spec:
  selector: {matchLabels: {app: op}}
  template:
    metadata: {labels: {app: op}, annotations: {example.com/version: VERSION}}
    spec: {serviceAccountName: op, terminationGracePeriodSeconds: 0, containers: [{name: main, image: registry.example.com/op}]}
`

// replacedObject is not in the package of a plan that can be undone.
const replacedObject = `---
apiVersion: v1
kind: ConfigMap
metadata: {name: frozen}
immutable: true
data: {mode: VERSION}
`

// phase is one command in the life of a release.
type phase struct {
	name    string
	before  []string // the versions that are installed before it
	command []string // with DIR/ before a version
	// undoes says that the plan never becomes healthy, and is undone.
	undoes  bool
	whole   bool     // the namespace goes too
	applies []string // flags of the command that its review does not have
}

// unhealthy is a check that fails, soon: the stage after its object's stage waits for it
// first, as long as the review says.
var unhealthy = []string{"--health-check", `ConfigMap/settings=self.data.mode == "none"`, "--rollout-timeout", "3s"}

var phases = []phase{
	{name: "install", command: []string{"install", "DIR/one", "NAME"}},
	{name: "upgrade", before: []string{"one"}, command: []string{"upgrade", "NAME", "DIR/two"}},
	{name: "rollback", before: []string{"one", "two"}, command: []string{"rollback", "NAME"}},
	{name: "uninstall", before: []string{"one"}, command: []string{"uninstall", "NAME"}},
	{name: "remove", before: []string{"one"}, command: []string{"uninstall", "NAME", "--include-crds", "--include-namespaces"}, whole: true, applies: []string{"--receipt", "DIR/receipt.json"}},
	{name: "undoing-upgrade", before: []string{"one"}, command: []string{"upgrade", "NAME", "DIR/two", "--on-failure", "rollback", "--stage-timeout", "10s"}, undoes: true, applies: unhealthy},
	{name: "undoing-install", command: []string{"install", "DIR/one", "NAME", "--on-failure", "rollback", "--stage-timeout", "10s"}, undoes: true, applies: unhealthy},
}

// disturbed is a release in one phase of its life, and what becomes of it.
type disturbed struct {
	*victim
	phase phase
	seed  int
	// command is the command that is disturbed, approved by the digest of its review.
	command []string
	// story lists what happened, a line each; said has the program's output.
	story, said     []string
	requests, wrote int
}

func newDisturbed(t *testing.T, box *sandbox.Sandbox, schemas *k8s.Schemas, name string, of phase, seed int) *disturbed {
	t.Helper()
	return &disturbed{victim: emptyVictim(t, box, schemas, name), phase: of, seed: seed}
}

// tell notes what happened, and what the program said of it.
func (d *disturbed) tell(said, format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	d.story, d.said = append(d.story, line), append(d.said, line+"\n"+said)
}

func (d *disturbed) fill(args ...string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = strings.NewReplacer("DIR", d.dir, "NAME", d.name).Replace(arg)
	}
	return append(out, "-n", d.name)
}

// prepare installs what comes before the phase, and approves what its review
// shows. It reports whether all that went well.
func (d *disturbed) prepare() bool {
	text := phasePackage
	if !d.phase.undoes {
		text += replacedObject
	}
	for _, version := range []string{"one", "two"} {
		dir := filepath.Join(d.dir, version)
		filled := strings.NewReplacer("RELEASE", d.name, "VERSION", version).Replace(text)
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "all.yaml"), []byte(filled), 0o600)); err != nil {
			d.find("%v", err)
			return false
		}
	}
	for _, version := range d.phase.before {
		words := []string{"upgrade", "NAME", "DIR/" + version}
		if version == d.phase.before[0] {
			words = []string{"install", "DIR/" + version, "NAME"}
		}
		args, err := d.approved(words)
		if err != nil {
			d.find("reviewing version %s: %v", version, err)
			return false
		}
		if code, said := d.run(d.program(d.box.Kubeconfig(), args...)); code != 0 {
			d.find("installing version %s: exit %d\n%s", version, code, said)
			return false
		}
	}
	var err error
	if d.command, err = d.approved(d.phase.command, d.phase.applies...); err != nil {
		d.find("the review: %v", err)
	}
	return err == nil
}

// approved reviews a command, and returns it with the digest it may apply.
func (d *disturbed) approved(words []string, applies ...string) ([]string, error) {
	review := append(d.fill(words...), "--preview")
	if words[0] == "install" {
		review = d.fill(append([]string{"preview"}, words[1:]...)...)
	}
	out, err := d.program(d.box.Kubeconfig(), append(review, "-o", "json")...).Output()
	var plan struct{ Digest string }
	if err := errors.Join(err, json.Unmarshal(out, &plan)); err != nil {
		return nil, err
	}
	args := d.fill(append(slices.Clone(words), applies...)...)
	return append(args, "--yes", "--approve", plan.Digest, "--ruleset", strconv.Itoa(preview.Ruleset)), nil
}

// through runs the command over a proxy.
func (d *disturbed) through(options sandboxtest.ProxyOptions, args ...string) (code int, said string) {
	proxy := sandboxtest.NewProxy(d.t, d.kubeconfig(), options)
	code, said = d.run(d.program(proxy.Kubeconfig, append(slices.Clone(d.command), args...)...))
	d.requests, d.wrote = proxy.Requests()
	return code, said
}

// persisted counts what the release's user changed, without records and locks,
// by the audit log of the API server.
func (d *disturbed) persisted() map[string]int {
	out := map[string]int{}
	for _, e := range sandboxtest.Mutations(d.t, d.box, d.user) {
		if !strings.HasPrefix(e.ObjectRef.Name, "kubectl-operator.") {
			out[strings.ReplaceAll(e.String(), d.name, "RELEASE")]++
		}
	}
	return out
}

// phaseKinds are the kinds of the package.
var phaseKinds = []string{
	"v1 ConfigMap", "v1 Secret", "v1 ServiceAccount", "rbac.authorization.k8s.io/v1 Role", "rbac.authorization.k8s.io/v1 RoleBinding", "apps/v1 Deployment",
}

// outcome holds what the release left in the cluster: its objects, its records and
// its lock, without what differs between two releases.
func (d *disturbed) outcome() string {
	var lines []string
	add := func(body map[string]any, err error) {
		switch {
		case err != nil:
			lines = append(lines, "reading: "+err.Error())
		case body != nil && !strings.HasPrefix(preview.String(body, "metadata", "name"), "kubectl-operator.") && preview.IsMember(body, d.release()):
			lines = append(lines, stored(body))
		}
	}
	ctx := context.Background()
	for _, kind := range phaseKinds {
		apiVersion, name, _ := strings.Cut(kind, " ")
		bodies, err := d.client.List(ctx, apiVersion, name, d.name, "")
		add(nil, err)
		for _, body := range bodies {
			add(body, nil)
		}
	}
	for _, ref := range []preview.Ref{
		{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: d.name},
		{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "things." + d.name + ".example.com"},
	} {
		add(d.client.Get(ctx, ref))
	}
	namespace, err := d.client.Get(ctx, preview.Ref{APIVersion: "v1", Kind: "Namespace", Name: d.name})
	lines = append(lines, fmt.Sprintf("the namespace exists: %t %v", namespace != nil, err))
	lines = append(lines, d.recorded(ctx)...)
	lease, err := d.client.Get(ctx, preview.Ref{
		APIVersion: "coordination.k8s.io/v1", Kind: "Lease", Namespace: d.name, Name: preview.RecordName(d.name),
	})
	if err != nil || preview.String(lease, "spec", "holderIdentity") != "" {
		lines = append(lines, fmt.Sprintf("a lock is left: %v", err))
	}
	return strings.NewReplacer(preview.SetID(d.release()), "SET", d.name, "RELEASE").Replace(strings.Join(lines, "\n") + "\n")
}

// stored is an object as written, without the fields that change with every write, and
// without other writers of its status.
func stored(body map[string]any) string {
	content := preview.WithoutVolatile(body)
	meta := preview.Map(body, "metadata")
	var managers []string
	list, _ := meta["managedFields"].([]any)
	for _, entry := range list {
		fields, _ := entry.(map[string]any)
		if strings.HasPrefix(preview.String(fields, "manager"), preview.FieldManager) {
			managers = append(managers, fmt.Sprint(fields["manager"], fields["operation"], fields["fieldsV1"]))
		}
	}
	slices.Sort(managers)
	delete(content, "status")
	content["metadata"] = map[string]any{"name": meta["name"], "labels": meta["labels"], "annotations": meta["annotations"], "owners": meta["ownerReferences"], "deleted": meta["deletionTimestamp"], "managers": managers}
	annotations := maps.Clone(preview.Map(body, "metadata", "annotations"))
	delete(annotations, "deployment.kubernetes.io/revision") // counts what was tried, too
	preview.Map(content, "metadata")["annotations"] = annotations
	text, err := json.Marshal(content)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (d *disturbed) recorded(ctx context.Context) []string {
	stored, err := record.Load(ctx, d.client, d.release())
	if err != nil || stored == nil {
		return []string{fmt.Sprintf("no record: %v", err)}
	}
	var lines []string
	for _, o := range stored.Objects {
		if done := o.State == record.StateReady || o.State == record.StateRemoved; done && stored.Undoes != nil {
			continue // it may have been undone before all was written
		}
		lines = append(lines, fmt.Sprintf("record: %s %s %s", o.ID, o.Action, o.State))
	}
	for _, item := range stored.Inventory {
		live, err := d.client.Get(ctx, item.Ref())
		lines = append(lines, fmt.Sprintf("inventory: %s by %s, with the uid of the live object: %t %v", item.Ref().ID(), item.Action, preview.String(live, "metadata", "uid") == item.UID, err))
	}
	for _, o := range stored.Older {
		lines = append(lines, fmt.Sprintf("revision %d was %s", o.Revision, o.State))
	}
	return append(lines, fmt.Sprintf("revision %d is %s", stored.Revision, stored.State))
}

// reference holds the objects and writes of a phase that nothing disturbs.
type reference struct {
	outcome          string
	persisted        map[string]int
	requests, writes int
}

// undisturbed runs a phase.
func undisturbed(d *disturbed) *reference {
	if !d.prepare() {
		return nil
	}
	code, said := d.through(sandboxtest.ProxyOptions{})
	if want := map[bool]int{true: 3}[d.phase.undoes]; code != want {
		d.find("undisturbed: exit %d, want %d\n%s", code, want, said)
		return nil
	}
	return &reference{outcome: d.outcome(), persisted: d.persisted(), requests: d.requests, writes: d.wrote}
}

// goOn runs the same command again after one that ended with a code, with nothing
// to disturb it. After a success it has nothing to do but to give back a lock: the
// last request is the lock's, and what hit that one the next command mends.
func (d *disturbed) goOn(after int) {
	if after == 0 && !strings.Contains(d.outcome(), "a lock is left") {
		return
	}
	args := d.command
	if d.phase.whole && after != 4 && after != -1 { // the receipt of a run that ended is there
		args = slices.Clone(args)
		args[slices.Index(args, "--receipt")+1] += ".again"
	}
	code, said := d.run(d.program(d.kubeconfig(), args...))
	d.tell(said, "again: exit %d", code)
	ok := code == 0 || code == 5 // it had been done
	if d.phase.undoes {
		ok = code == 3 || code == 5
	}
	if !ok {
		d.find("the same command again: exit %d\n%s", code, said)
	}
}

// judge compares the end of a release with the end of an undisturbed one.
func (d *disturbed) judge(want *reference) {
	if got := d.outcome(); got != want.outcome {
		d.find("it ended otherwise than undisturbed:\n%s", difference(want.outcome, got))
	}
	got := d.persisted()
	for event, n := range got {
		if n > want.persisted[event] {
			d.find("%q was persisted %d times, undisturbed %d times", event, n, want.persisted[event])
		}
	}
	if d.phase.undoes {
		return // it may have been undone before all was written
	}
	for event, n := range want.persisted {
		if got[event] != n {
			d.find("%q was persisted %d times, undisturbed %d times", event, got[event], n)
		}
	}
}

// difference lists the lines that only one of two texts has.
func difference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	var out []string
	for _, line := range a {
		if !slices.Contains(b, line) {
			out = append(out, "- "+line)
		}
	}
	for _, line := range b {
		if !slices.Contains(a, line) {
			out = append(out, "+ "+line)
		}
	}
	return strings.Join(out, "\n")
}
