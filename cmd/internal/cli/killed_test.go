package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// hashed are generated names of roles: part of the package, and a hash of it.
var hashed = regexp.MustCompile(`RELEASE[^/ ]*-[0-9a-z]{20,}`)

// killedAtOnce is the number of releases installed and killed at a time: each
// spends most of its time watching the lock of a dead process.
const killedAtOnce = 4

// TestClusterKilledAtEveryWrite ends the installation of the mongodb bundle with kill
// -9 at each of its writes. Resumed, it is what an uninterrupted one makes.
//
// For what is left in the cluster, a process that dies after write n was stored
// is the same as one that dies before write n+1 is sent: the usual run kills
// after each sixth write, which have three turns, and the last, a soak after every one
// and before.
func TestClusterKilledAtEveryWrite(t *testing.T) {
	t.Parallel()
	box := sandboxtest.Start(t)
	schemas := k8s.NewSchemas()
	whole := newVictim(t, box, schemas, "whole")
	if code, said := whole.install(); code != 0 {
		t.Fatalf("without a fault: exit %d\n%s", code, said)
	}
	want := whole.outcome()
	cuts := map[string]sandboxtest.CutPoint{"after": sandboxtest.CutAnswer}
	if slowtest.Soak() {
		cuts["before"] = sandboxtest.CutBefore
	}
	var victims []*victim
	var group errgroup.Group
	group.SetLimit(killedAtOnce)
	for name, cut := range cuts {
		for at := 1; at <= whole.writes; at++ {
			if at != whole.writes && !(slowtest.InSample(at-1, 6) && slowtest.Turn(t, at/6)) {
				continue
			}
			v := newVictim(t, box, schemas, fmt.Sprintf("%s-%d", name, at))
			victims = append(victims, v)
			group.Go(func() error { v.killAndResume(at, cut); return nil })
		}
	}
	_ = group.Wait() // each victim has its own findings
	resumed, done := 0, 0
	for _, v := range victims {
		if got := v.outcome(); got != want {
			v.find("it ended as\n%swant\n%s", got, want)
		}
		for _, finding := range v.findings {
			t.Errorf("%s: %s", v.name, finding)
		}
		if v.finished {
			done++
		} else {
			resumed++
		}
	}
	t.Logf("%d writes; killed %d times; %d times resumed, %d times nothing was left to do", whole.writes, len(victims), resumed, done)
}

// victim is one installation of the mongodb bundle, as its own package so that several
// fit into one cluster.
type victim struct {
	t       *testing.T
	box     *sandbox.Sandbox
	schemas *k8s.Schemas
	client  *k8s.Client
	name    string
	user    string
	dir     string // its home
	bundle  string
	request string // a request file instead of the bundle
	digest  string
	saved   string // the plan as a file

	writes   int  // without renewals of the lock
	finished bool // it was killed after its last word
	findings []string
}

// newVictim names it shortly: generated names cut what is long.
func newVictim(t *testing.T, box *sandbox.Sandbox, schemas *k8s.Schemas, name string) *victim {
	t.Helper()
	v := emptyVictim(t, box, schemas, name)
	source := os.DirFS(filepath.Join(root(t), "testdata", "bundles", "mongodb", "1.11.0"))
	err := fs.WalkDir(source, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(source, path)
		if err != nil {
			return err
		}
		text := strings.NewReplacer("mongodb.example.com", v.name+".example.com", "name: mongodb.v1", "name: "+v.name+".v1").Replace(string(data))
		to := filepath.Join(v.bundle, path)
		return errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.WriteFile(to, []byte(text), 0o600))
	})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// emptyVictim has no bundle yet.
func emptyVictim(t *testing.T, box *sandbox.Sandbox, schemas *k8s.Schemas, name string) *victim {
	t.Helper()
	v := &victim{t: t, box: box, schemas: schemas, name: "k-" + name, user: "k-" + name + "-installer", dir: t.TempDir()}
	v.bundle = filepath.Join(v.dir, "bundle")
	var err error
	if v.client, err = k8s.Connect(t.Context(), k8s.Options{Kubeconfig: box.Kubeconfig()}); err != nil {
		t.Fatal(err)
	}
	return v
}

func (v *victim) find(format string, args ...any) {
	v.findings = append(v.findings, fmt.Sprintf(format, args...))
}

// program prepares a run of the program.
func (v *victim) program(kubeconfig string, args ...string) *exec.Cmd {
	cmd := exec.Command("kubectl-operator", append(args, "--kubeconfig", kubeconfig)...)
	cmd.Env = append(os.Environ(), "HOME="+v.dir, "XDG_CACHE_HOME="+filepath.Join(v.dir, "cache"), "XDG_CONFIG_HOME="+filepath.Join(v.dir, "config"))
	return cmd
}

func (v *victim) run(cmd *exec.Cmd) (code int, said string) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		v.find("%v", err)
	}
	return cmd.ProcessState.ExitCode(), out.String()
}

// review approves what the preview shows.
func (v *victim) review() {
	v.saved = filepath.Join(v.dir, "plan.tgz")
	preview := slices.Concat([]string{"preview"}, v.asks(), []string{"--out", v.saved, "--plaintext-secrets", "-o", "json"})
	if code, said := v.run(v.program(v.box.Kubeconfig(), preview...)); code != 0 {
		v.find("preview: exit %d\n%s", code, said)
	}
	out, err := v.program(v.box.Kubeconfig(), "show", v.saved, "-o", "json").Output()
	var plan struct{ Digest string }
	if err := errors.Join(err, json.Unmarshal(out, &plan)); err != nil {
		v.find("show: %v", err)
	}
	v.digest = plan.Digest
}

// asks returns the arguments that say what to install.
func (v *victim) asks() []string {
	if v.request != "" {
		return []string{"-f", v.request}
	}
	return []string{v.bundle, v.name, "-n", v.name}
}

func (v *victim) byDigest() []string {
	return slices.Concat([]string{"install"}, v.asks(), []string{"--yes", "--approve", v.digest, "--ruleset", strconv.Itoa(preview.Ruleset)})
}

// install runs the program until it ends.
func (v *victim) install() (code int, said string) {
	v.review()
	return v.struck(nil, v.byDigest())
}

// struck runs the program with args until it ends, or until strike ends it: it is
// asked about every write, renewals of the lock aside.
func (v *victim) struck(strike func(cmd *exec.Cmd, write int) sandboxtest.Fault, args []string) (code int, said string) {
	v.writes = 0
	locked := false
	var cmd *exec.Cmd
	proxy := sandboxtest.NewProxy(v.t, v.kubeconfig(), sandboxtest.ProxyOptions{Fault: func(r sandboxtest.Request) sandboxtest.Fault {
		lease := strings.Contains(r.Path, "/leases/") && r.Method == "PATCH"
		if !r.Persists() || lease && locked {
			return sandboxtest.Fault{}
		}
		locked = locked || lease
		v.writes++
		if strike == nil {
			return sandboxtest.Fault{}
		}
		return strike(cmd, v.writes)
	}})
	cmd = v.program(proxy.Kubeconfig, args...)
	return v.run(cmd)
}

func (v *victim) kubeconfig() string {
	kubeconfig, err := v.box.User(v.user, "system:masters")
	if err != nil {
		v.find("%v", err)
	}
	return kubeconfig
}

// killing ends the program with kill -9 at one of its writes.
func (v *victim) killing(at int, cut sandboxtest.CutPoint) (strike func(cmd *exec.Cmd, write int) sandboxtest.Fault, killed func(code int, said string) bool) {
	hit := false
	strike = func(cmd *exec.Cmd, write int) sandboxtest.Fault {
		if write != at {
			return sandboxtest.Fault{}
		}
		return sandboxtest.Fault{Cut: cut, Then: func() {
			hit = true
			if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
				v.find("kill: %v", err)
			}
		}}
	}
	return strike, func(code int, said string) bool {
		if !hit || code != -1 {
			v.find("it was not killed at write %d, but ended with %d\n%s", at, code, said)
		}
		return hit && code == -1
	}
}

func (v *victim) killAndResume(at int, cut sandboxtest.CutPoint) {
	v.review()
	goOn := v.byDigest()
	if at%2 == 0 {
		goOn = []string{"install", "--plan", v.saved, "--yes"}
	}
	v.killedThen(at, cut, v.byDigest(), goOn)
}

// killedThen is killed at a write of one command and goes on with another; a run
// that was killed after its last word is spent.
func (v *victim) killedThen(at int, cut sandboxtest.CutPoint, args, goOn []string) {
	strike, killed := v.killing(at, cut)
	code, said := v.struck(strike, args)
	if code == 0 && v.writes < at {
		// A quick rollout is saved less often than the counted run's rollout: this run had no
		// such write, and must end as the counted one did.
		v.finished = true
		return
	}
	if !killed(code, said) {
		return
	}
	stored, err := record.Load(context.Background(), v.client, v.release())
	if err != nil {
		v.find("after the kill: %v", err)
		return
	}
	v.checkReconciled(stored)
	v.finished = stored != nil && stored.State == record.Applied
	code, said = v.run(v.program(v.kubeconfig(), goOn...))
	if want := map[bool]int{true: 5}[v.finished]; code != want {
		v.find("killed at write %d and resumed: exit %d, want %d\n%s", at, code, want, said)
	}
}

func (v *victim) release() preview.Release {
	return preview.Release{Name: v.name, Namespace: v.name}
}

// checkReconciled holds the record of the killed run against the audit log.
func (v *victim) checkReconciled(stored *record.Record) {
	if stored == nil {
		return
	}
	objects, err := install.Reconcile(context.Background(), v.client, v.schemas, stored)
	if err != nil {
		v.find("reconciling: %v", err)
	}
	written := v.written()
	for _, o := range objects {
		if recorded := o.State != record.StatePending; recorded != (written[o.ID] > 0) || o.State == record.StateSent {
			v.find("%s is recorded as %s; it was written %d times", o.ID, o.State, written[o.ID])
		}
	}
}

// written counts what the victim's user persisted, by object id; records and
// locks aside.
func (v *victim) written() map[string]int {
	kinds := map[string]string{
		"namespaces": "Namespace", "serviceaccounts": "ServiceAccount", "roles": "Role", "rolebindings": "RoleBinding", "clusterroles": "ClusterRole",
		"clusterrolebindings": "ClusterRoleBinding", "deployments": "Deployment", "customresourcedefinitions": "CustomResourceDefinition",
		"configmaps": "ConfigMap", "secrets": "Secret", "services": "Service", "jobs": "Job", "things": "Thing", "ingresses": "Ingress",
		"networkpolicies": "NetworkPolicy", "priorityclasses": "PriorityClass", "persistentvolumeclaims": "PersistentVolumeClaim",
		"validatingwebhookconfigurations": "ValidatingWebhookConfiguration", "mutatingwebhookconfigurations": "MutatingWebhookConfiguration",
	}
	written := map[string]int{}
	for _, e := range sandboxtest.Mutations(v.t, v.box, v.user) {
		if strings.HasPrefix(e.ObjectRef.Name, "kubectl-operator.") {
			continue
		}
		group, namespace := e.ObjectRef.APIGroup, e.ObjectRef.Namespace
		if group == "" {
			group = "core"
		}
		if namespace == "" || e.ObjectRef.Resource == "namespaces" {
			namespace = "-"
		}
		written[group+"/"+kinds[e.ObjectRef.Resource]+"/"+namespace+"/"+e.ObjectRef.Name]++
	}
	return written
}

// secrets returns the Secrets of a record's plan, with the cluster's values.
func (v *victim) secrets(stored *record.Record) map[string]map[string]any {
	_, shapes, err := record.LoadRecordedPlan(v.t.Context(), v.client, stored)
	if err != nil {
		v.find("%v", err)
	}
	sealed := map[string]map[string]any{}
	for id, shape := range shapes {
		live, err := v.client.Get(v.t.Context(), preview.RefOf(shape))
		if err == nil {
			sealed[id], err = install.WithLiveValues(shape, live)
		}
		if err != nil {
			v.find("%s: %v", id, err)
		}
	}
	return sealed
}

// outcome says what is in the cluster, without the parts that differ between two
// releases: it is compared with the outcome of an uninterrupted run.
func (v *victim) outcome() string {
	var lines []string
	stored, err := record.Load(v.t.Context(), v.client, v.release())
	if err != nil || stored == nil {
		return fmt.Sprintf("no record: %v\n", err)
	}
	plan, err := record.LoadPlan(v.t.Context(), v.client, stored, v.secrets(stored))
	if err != nil {
		return err.Error() + "\n"
	}
	written := v.written()
	for i := range plan.Objects {
		o := &plan.Objects[i]
		live, err := v.client.Get(v.t.Context(), o.Ref())
		verdict, notes, compareErr := install.Compare(v.schemas, install.WrittenObject{Sealed: o.Planned, Reviewed: o.ResultBody, Before: live, Live: live})
		lines = append(lines, fmt.Sprintf("%s is %s %v %v, written %d times", o.ID, verdict, notes, errors.Join(err, compareErr), written[o.ID]))
	}
	for _, item := range stored.Inventory {
		live, err := v.client.Get(v.t.Context(), item.Ref())
		same := item.UID != "" && preview.String(live, "metadata", "uid") == item.UID
		lines = append(lines, fmt.Sprintf("inventory: %s by %s, the uid is that of the live object: %t %v", item.Ref().ID(), item.Action, same, err))
	}
	for _, o := range stored.Objects {
		lines = append(lines, fmt.Sprintf("record: %s %s %s", o.ID, o.Action, o.State))
	}
	slices.Sort(lines)
	lines = append(lines, fmt.Sprintf("revision %d %s", stored.Revision, stored.State))
	lease, err := v.client.Get(v.t.Context(), preview.Ref{
		APIVersion: "coordination.k8s.io/v1", Kind: "Lease", Namespace: v.name, Name: preview.RecordName(v.name),
	})
	if holder := preview.String(lease, "spec", "holderIdentity"); !v.finished {
		lines = append(lines, fmt.Sprintf("locked by %q %v", holder, err))
	} else {
		lines = append(lines, fmt.Sprintf("locked by %q %v", "", err)) // a dead one, until it expires
	}
	text := strings.ReplaceAll(strings.Join(lines, "\n")+"\n", v.name, "RELEASE")
	return hashed.ReplaceAllString(text, "ROLE")
}
