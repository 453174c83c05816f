package install_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/history"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/installer"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

// start is what an action begins with; in a pattern an empty field means any.
type start struct{ namespace, record, chain, served string }

func (s start) matches(pattern start) bool {
	for _, pair := range [][2]string{
		{s.namespace, pattern.namespace}, {s.record, pattern.record}, {s.chain, pattern.chain}, {s.served, pattern.served},
	} {
		if pair[1] != "" && pair[0] != pair[1] {
			return false
		}
	}
	return true
}

func (s start) String() string {
	return strings.Join([]string{s.namespace, s.record, s.chain, s.served}, "-")
}

// The dimensions of the table.
var (
	tableActions = []string{"install", "upgrade", "rollback", "uninstall", "resume", "undo"}
	tableChecks  = map[string]func(*cell){
		"reviewed result": (*cell).checkResult, "rights": (*cell).checkRights, "record": (*cell).checkRecord,
		"unknown writes": (*cell).checkWrites, "volatile fields": (*cell).checkVolatile,
	}
)

func tableStarts() (out []start) {
	for _, namespace := range []string{"new", "existing"} {
		for _, stored := range []string{"none", "plain", "signed"} {
			for _, chain := range []string{"whole", "broken"} {
				for _, served := range []string{"same", "moved"} {
					out = append(out, start{namespace, stored, chain, served})
				}
			}
		}
	}
	return out
}

// empty are the cells that cannot exist, with the reason; an empty check means all of them.
var empty = []struct {
	action string
	start  start
	check  string
	why    string
}{
	{"", start{namespace: "new", record: "plain"}, "", "the record lies in the namespace"},
	{"", start{namespace: "new", record: "signed"}, "", "the record lies in the namespace"},
	{"", start{record: "none", chain: "broken"}, "", "without a record there is no chain"},
	{"", start{record: "none", served: "moved"}, "", "without a record no object was applied in another version"},
	{"upgrade", start{record: "none"}, "", "nothing is installed"},
	{"rollback", start{record: "none"}, "", "nothing is installed"},
	{"uninstall", start{record: "none"}, "", "nothing is installed"},
	{"install", start{served: "moved"}, "", "after an uninstall the record has no object of that kind"},
	{"uninstall", start{chain: "whole"}, "volatile fields", "nothing is left that has fields"},
	{"undo", start{record: "none"}, "volatile fields", "nothing is left that has fields"},
	{"install", start{chain: "broken"}, "volatile fields", "nothing is there that has fields"},
}

// refusedCells are the cells where nothing may be written.
var refusedCells = []struct {
	action string
	start  start
	why    string
}{
	{"", start{chain: "broken"}, "the history does not hold"},
	{"rollback", start{served: "moved"}, "which the cluster does not serve; that revision cannot be applied any more"},
	{"undo", start{served: "moved"}, "which the cluster does not serve any more"},
	{"resume", start{served: "moved"}, "is neither as reviewed nor as this plan leaves it"},
}

// TestClusterEveryActionFromEveryStart is the table of what a user does, from what is there,
// and what has to hold of it: a cell that is neither tried nor named as one that cannot exist
// is an error, and so is a reason for no cell.
func TestClusterEveryActionFromEveryStart(t *testing.T) {
	reasons := make([]int, len(empty))
	keys := newRecordKeys(t)
	tried, turn := 0, 0
	for _, action := range tableActions {
		for _, from := range tableStarts() {
			var checks []string
			for check := range tableChecks {
				excused := false
				for i, e := range empty {
					if (e.action == "" || e.action == action) && from.matches(e.start) && (e.check == "" || e.check == check) {
						excused = true
						reasons[i]++
					}
				}
				if !excused {
					checks = append(checks, check)
				}
			}
			if len(checks) == 0 {
				continue
			}
			tried += len(checks)
			if turn++; !slowtest.Turn(t, turn) {
				continue
			}
			t.Run(action+"/"+from.String(), func(t *testing.T) {
				t.Parallel()
				c := newCell(t, action, from, keys)
				c.run()
				slices.Sort(checks)
				for _, check := range checks {
					tableChecks[check](c)
				}
			})
		}
	}
	for i, n := range reasons {
		if n == 0 {
			t.Errorf("no cell is empty because %s", empty[i].why)
		}
	}
	all := len(tableActions) * len(tableStarts()) * len(tableChecks)
	t.Logf("%d cells, %d of them tried", all, tried)
	if tried < 240 {
		t.Error("these are too few")
	}
}

// cell is one action from one start.
type cell struct {
	*limited
	t      *testing.T
	action string
	from   start
	keys   record.Keys
	by     *world // the administrator
	state  map[string]any
	setup  int // writes of the administrator before
	plan   *preview.Plan
	before *record.Record
	err    error
}

// newCell makes the start.
func newCell(t *testing.T, action string, from start, keys record.Keys) *cell {
	name := strings.ReplaceAll(action+"-"+from.String(), "existing", "old")
	c := &cell{t: t, action: action, from: from, by: newWorld(t, name)}
	if from.record == "signed" {
		c.keys = keys
	}
	if from.namespace == "existing" {
		makeNamespace(t, sandboxtest.NewRawClient(t, c.by.sandbox.Kubeconfig()), name)
	}
	if from.served == "moved" {
		c.by.moving(t, c.group())
	}
	if from.record != "none" {
		for _, version := range []string{"1", "2", "3"} {
			c.applyAs(c.by, c.planAs(c.by, c.content(version, "v1beta1")), "setup")
		}
		if action == "install" {
			c.applyAs(c.by, c.planAs(c.by), "setup")
		}
	}
	return c
}

func (c *cell) group() string { return c.by.release.Name + ".example.com" }

// content is a version of the package. It sets a field that others set too.
func (c *cell) content(version, served string) planned.Content {
	texts := []string{configMap("settings", version), strings.ReplaceAll(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {kubectl.kubernetes.io/restartedAt: "VERSION"}}
    spec: {automountServiceAccountToken: false, containers: [{name: web, image: registry.example.com/web}]}
`, "VERSION", version)}
	if c.from.served == "moved" {
		const thing = "apiVersion: %s/%s\nkind: Thing\nmetadata: {name: thing}\nspec: {key: %q}\n"
		texts = append(texts, fmt.Sprintf(thing, c.group(), served, version))
	}
	return c.by.content(c.t, version+".0.0", texts...)
}

// stored returns the newest record, verified.
func (c *cell) stored() *record.Record {
	c.t.Helper()
	stored, err := history.Load(c.t.Context(), c.by, c.by.release)
	if err != nil {
		c.t.Fatal(err)
	}
	if stored != nil && c.keys.Signer != nil {
		target, err := c.by.Target(c.t.Context())
		if err != nil {
			c.t.Fatal(err)
		}
		stored.Verify(c.keys, target.Identity)
	}
	return stored
}

// planAs plans contents as a user; none plans the removal.
func (c *cell) planAs(w *world, contents ...planned.Content) *preview.Plan {
	c.t.Helper()
	stored := c.stored()
	return w.planWith(c.t, func(o *engine.Options) {
		if stored != nil {
			o.Installed.Base.Signature = stored.Signature
		}
		if len(contents) == 0 {
			o.Request.Action = preview.RequestUninstall
		}
	}, contents...)
}

func (c *cell) applyAs(cluster install.Cluster, plan *preview.Plan, holder string) {
	c.t.Helper()
	if _, err := install.Apply(c.t.Context(), plan, byDigest(plan), cluster, c.options(holder)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cell) options(holder string) install.Options {
	return install.Options{
		Schemas: c.by.schemas, Holder: holder, ToolVersion: "0.0.1", NoWait: true, StageTimeout: time.Minute, RecordKeys: c.keys,
		Keep: func(*record.Receipt) error { return nil }, Clock: fastClock{time.Now()},
	}
}

// reviewed plans the action, as a user.
func (c *cell) reviewed(w *world) (*preview.Plan, error) {
	c.t.Helper()
	served := "v1beta1"
	if c.from.served == "moved" && c.action != "resume" {
		served = "v1"
	}
	stored := c.stored()
	var contents []planned.Content
	request := preview.Request{Action: preview.RequestInstall}
	switch c.action {
	case "uninstall":
		request.Action = preview.RequestUninstall
	case "rollback":
		var target *record.Record
		var err error
		if contents, target, err = history.Rollback(c.t.Context(), w, stored, 1); err != nil {
			c.t.Fatal(err)
		}
		request = preview.Request{Action: preview.RequestRollback, Revision: target.Revision}
	default:
		contents = []planned.Content{c.content("4", served)}
	}
	opts := w.planOptions(c.t)
	opts.Request = request
	if stored != nil {
		opts.Installed.Base.Signature = stored.Signature
	}
	if c.action == "undo" {
		var err error
		if opts.Undo, err = install.EarlierRevision(c.t.Context(), w, stored); err != nil {
			c.t.Fatal(err)
		}
	}
	return engine.Build(c.t.Context(), contents, w, opts)
}

// run moves what the start moves, and does the action as a user who has the rights of the
// plan's installer role and no others.
func (c *cell) run() {
	thing := preview.Ref{APIVersion: c.group() + "/v1beta1", Kind: "Thing", Namespace: c.by.release.Namespace, Name: "thing"}
	if c.from.served == "moved" && c.action != "resume" {
		c.by.stopServing(c.t, thing)
	}
	c.state, c.before = c.by.state(c.t), c.stored()
	plan, err := c.reviewed(c.by)
	if c.err = err; err != nil {
		c.judgeEnd()
		return
	}
	if c.plan, c.limited = plan, (&limited{world: c.by}); c.from.namespace == "existing" { // else the role would make it
		c.limited = newLimited(c.t, c.by, plan)
		if c.plan, err = c.reviewed(c.limited.world); err != nil {
			c.t.Fatalf("with the rights of the installer role: %v", err)
		}
	}
	c.state, c.setup = c.by.state(c.t), len(c.by.writes(c.t))
	if c.action == "resume" {
		f := &faulty{Cluster: c.limited, mode: killed, at: 1, only: func(ref preview.Ref) bool { return ref.Kind == "ConfigMap" }}
		opts := c.options("first")
		opts.Clock = deadClock{f}
		if _, err := install.Apply(c.t.Context(), c.plan, byDigest(c.plan), f, opts); err == nil || f.alive() == nil {
			c.t.Fatalf("it was not killed: %v", err)
		}
		if c.from.served == "moved" {
			c.by.stopServing(c.t, thing)
		}
		c.state = c.by.state(c.t)
	}
	if c.from.chain == "broken" {
		c.by.edit(c.t, "delete", "secret", preview.RecordName(c.by.release.Name)+".v2.0", "-n", c.by.release.Namespace)
	}
	c.before = c.stored()
	var cluster install.Cluster = c.limited
	if c.action == "undo" {
		cluster = &frozenDeployment{c.limited}
	}
	_, c.err = install.Apply(c.t.Context(), c.plan, byDigest(c.plan), cluster, c.options("second"))
	c.judgeEnd()
}

// judgeEnd wants the action to be done, or refused for one of the reasons of the table.
func (c *cell) judgeEnd() {
	c.t.Helper()
	refused, said := false, false
	for _, r := range refusedCells {
		if (r.action == "" || r.action == c.action) && c.from.matches(r.start) {
			refused = true
			said = said || c.err != nil && strings.Contains(c.err.Error(), r.why)
		}
	}
	switch kind := install.KindOf(c.err); {
	case refused && (!said || !c.refused()):
		c.t.Errorf("it was to be refused, and ended with %v", c.err)
	case !refused && c.action == "undo" && (c.err == nil || kind != install.Failed || !strings.Contains(c.err.Error(), "not on a Sunday")):
		c.t.Errorf("it ended with %v, and was to be rolled back", c.err)
	case !refused && c.action != "undo" && c.err != nil:
		c.t.Errorf("it ended with %v", c.err)
	}
}

// frozenDeployment refuses the write of a Deployment.
type frozenDeployment struct{ install.Cluster }

func (f *frozenDeployment) Apply(ctx context.Context, item preview.DryRun) (map[string]any, error) {
	if preview.RefOf(item.Body).Kind == "Deployment" {
		return nil, &preview.Refusal{Reason: preview.ReasonForbidden, Message: "not on a Sunday"}
	}
	return f.Cluster.Apply(ctx, item)
}

// refused reports whether the plan or the run was refused.
func (c *cell) refused() bool {
	_, planning := errors.AsType[*engine.RefusedError](c.err)
	return c.err != nil && (planning || install.KindOf(c.err) == install.Refused)
}

// checkResult wants every object as reviewed, or all as it was.
func (c *cell) checkResult() {
	switch {
	case c.from.namespace == "new" && c.action == "undo":
		if left := c.by.members(c.t); len(left) > 0 {
			c.t.Errorf("%v is left", left)
		}
	case c.refused() || c.action == "undo":
		c.by.sameState(c.t, c.state)
	case c.action == "uninstall":
		left := c.by.state(c.t)
		for i := range c.plan.Objects {
			if id := c.plan.Objects[i].ID; left[id] != nil || c.state[id] == nil && c.plan.Objects[i].Kind != "Thing" {
				c.t.Errorf("%s was there: %t, and is: %t", id, c.state[id] != nil, left[id] != nil)
			}
		}
	default:
		c.by.sameAsReviewed(c.t, c.plan)
	}
}

// checkRights wants the installer role of the review to have the right to each write. Where
// the namespace was there, a user with that role alone did it all.
func (c *cell) checkRights() {
	if c.plan == nil {
		return // it was never planned
	}
	if in := c.plan.Access.Installer; len(in.Missing)+len(in.Unread) > 0 {
		c.t.Errorf("the installer lacks %v, and may not read %v", in.Missing, in.Unread)
	}
	var held []preview.Right
	for _, body := range installer.Manifests(c.plan, c.by.plural(c.t)) {
		if ref := preview.RefOf(body); ref.Kind == "Namespace" { // who gives the roles makes it
			held = append(held, preview.Right{Verb: "patch", Resource: "namespaces", Name: ref.Name})
		}
		held = append(held, installer.Held(body, preview.RefOf(body).Namespace)...)
	}
	for _, w := range c.written() {
		if !slices.ContainsFunc(held, func(r preview.Right) bool {
			return r.Verb == w.verb && r.Group == w.group && r.Resource == w.resource && (r.Name == "" || r.Name == w.name)
		}) {
			c.t.Errorf("the role has no right to %+v", w)
		}
	}
}

// write is a write in the audit log.
type write struct{ verb, group, resource, name string }

// written returns what the user of the action wrote.
func (c *cell) written() (out []write) {
	events := sandboxtest.Mutations(c.t, c.by.sandbox, c.user)
	if c.user == c.by.user {
		events = events[c.setup:]
	}
	for _, e := range events {
		u, err := url.Parse(e.RequestURI)
		if err != nil {
			c.t.Fatal(err)
		}
		parts := strings.Split(strings.Trim(u.Path, "/"), "/")
		w := write{verb: e.Verb, name: parts[len(parts)-1], resource: parts[len(parts)-2]}
		if parts[0] == "apis" {
			w.group = parts[1]
		}
		out = append(out, w)
	}
	return out
}

// checkRecord wants the record to say what was done, signed where it was.
func (c *cell) checkRecord() {
	stored := c.stored()
	if c.refused() {
		if !reflect.DeepEqual(stored, c.before) {
			c.t.Errorf("the record is %+v, was %+v", stored, c.before)
		}
		return
	}
	if stored == nil {
		c.t.Fatal("there is no record")
	}
	digest, state := stored.Digest, record.Applied
	if c.action == "undo" {
		if stored.Undoes == nil {
			c.t.Fatalf("revision %d, %s, undoes nothing", stored.Revision, stored.State)
		}
		digest = stored.Undoes.Digest
	}
	if c.action == "uninstall" || c.action == "undo" && c.from.record == "none" {
		state = record.Uninstalled
	}
	if digest != c.plan.Digest || stored.State != state {
		c.t.Errorf("the record is of %s, %s; want %s, %s", digest, stored.State, c.plan.Digest, state)
	}
	if signed := stored.Signature != nil && stored.Signature.Problem == ""; signed != (c.from.record == "signed") {
		c.t.Errorf("the signature is %v", stored.Signature)
	}
	if left := c.by.orphans(c.t); len(left) > 0 {
		c.t.Errorf("the record lacks %v", left)
	}
}

// checkWrites wants the audit log to have nothing but objects that the plan writes, and
// what the program keeps for itself.
func (c *cell) checkWrites() {
	if c.plan == nil {
		return // no one had a plan to write
	}
	written := map[string]bool{}
	may := func(action preview.Action, ref preview.Ref) {
		plural, err := c.by.Plural(c.t.Context(), ref.APIVersion, ref.Kind)
		if err != nil {
			c.t.Fatal(err)
		}
		if writes(action) {
			written[strings.TrimPrefix(ref.Group()+"/", "/")+plural+"/"+ref.Name] = true
		}
	}
	for i := range c.plan.Objects {
		may(c.plan.Objects[i].Action, c.plan.Objects[i].Ref())
	}
	if undo := c.plan.FailureRollback; undo != nil {
		for i := range undo.Objects {
			may(undo.Objects[i].Action, undo.Objects[i].Ref())
		}
	}
	for _, w := range c.written() {
		planned := written[strings.TrimPrefix(w.group+"/", "/")+w.resource+"/"+w.name]
		if own := strings.HasPrefix(w.name, preview.RecordName(c.by.release.Name)); c.refused() && c.action != "resume" || !planned && !own {
			c.t.Errorf("%+v is not of the plan", w)
		}
	}
}

// checkVolatile wants a field that controllers set too to be as the package sets it, in the
// review where it changes, and drift where it is edited.
func (c *cell) checkVolatile() {
	const key = "kubectl.kubernetes.io/restartedAt"
	want := map[string]string{"install": "4", "upgrade": "4", "rollback": "1", "resume": "4", "undo": "3"}[c.action]
	if c.refused() {
		want = "3"
	}
	live := func() string {
		web := c.by.read(c.t, "apps/v1", "Deployment", c.by.release.Namespace, "web")
		return preview.String(web, "spec", "template", "metadata", "annotations", key)
	}
	if got := live(); got != want {
		c.t.Errorf("the field is %q, want %q", got, want)
	}
	if c.refused() {
		return // what a run that was refused says of edits is not of this action
	}
	o := c.plan.Object("apps/Deployment/" + c.by.release.Namespace + "/web")
	shown := slices.ContainsFunc(o.Changes, func(ch preview.Change) bool { return strings.Contains(ch.Path, key) })
	if o.Action == preview.ActionUpdate && !shown {
		c.t.Errorf("the review does not show it: %v", o.Changes)
	}
	c.by.edit(c.t, "patch", "deployment", "web", "-n", c.by.release.Namespace,
		"-p", `{"spec":{"template":{"metadata":{"annotations":{"`+key+`":"edited"}}}}}`)
	if drift := c.by.driftOf(c.t, o.ID); drift.Drift != install.DriftChanged {
		c.t.Errorf("an edit of it is %+v", drift)
	}
}
