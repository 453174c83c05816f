package ahead_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/ahead"
	"github.com/kubectl-operator/kubectl-operator/preview/reads"
)

// distant answers each request after a second, the n-th with version n, and counts them.
// Kind Absent is not served; namespace "new" does not exist. Methods that it lacks panic.
type distant struct {
	reads.Cluster

	mu     sync.Mutex
	asked  map[string]int
	merges []string
	plans  int
}

const trip = time.Second

func (d *distant) ask(questions ...string) {
	time.Sleep(trip) // in a bubble of synctest, where time is not real
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.asked == nil {
		d.asked = map[string]int{}
	}
	for _, question := range questions {
		d.asked[question]++
	}
}

func (d *distant) Target(context.Context) (preview.Target, error) {
	d.ask("target")
	return preview.Target{Identity: "a"}, nil
}

func (d *distant) Kind(_ context.Context, apiVersion, kind string) (bool, error) {
	d.ask("kind " + apiVersion + " " + kind)
	if kind == "Absent" {
		return false, &preview.Refusal{Reason: preview.ReasonNotServed}
	}
	return true, nil
}

func (d *distant) Read(_ context.Context, refs []preview.Ref) []preview.ReadResult {
	var questions []string
	for _, ref := range refs {
		questions = append(questions, "read "+ref.ID())
	}
	d.ask(questions...)
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []preview.ReadResult
	for i, ref := range refs {
		r := preview.ReadResult{Ref: ref}
		if ref.Name != "new" {
			r.Body = map[string]any{"apiVersion": ref.APIVersion, "kind": ref.Kind, "n": int64(d.asked[questions[i]])}
		}
		out = append(out, r)
	}
	return out
}

func (d *distant) List(_ context.Context, _, kind, namespace, selector string, _ ...string) ([]map[string]any, error) {
	d.ask("list " + kind + " " + namespace + selector)
	return nil, errors.New("listed")
}

func (d *distant) PreparePlan(context.Context, preview.ReadMode) func() {
	d.plans++
	return func() { d.plans-- }
}

func (d *distant) PrepareMerge(_ context.Context, apiVersions []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.merges = append(d.merges, apiVersions...)
}

// planOf is a plan of an application with an account, and an object of a kind that is not served.
func planOf(mode preview.ReadMode) *preview.Plan {
	p := &preview.Plan{ReadMode: mode, Release: preview.Release{Name: "r", Namespace: "n"}, Packages: []preview.Package{{}}}
	for _, body := range []map[string]any{
		{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"name": "a", "namespace": "n"}},
		{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "a", "namespace": "n"}, "spec": map[string]any{
			"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "c"}}}},
		}},
		{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "a", "namespace": "new"}, "spec": map[string]any{
			"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "c"}}}},
		}},
		{"apiVersion": "example.com/v1", "kind": "Absent", "metadata": map[string]any{"name": "a", "namespace": "n"}},
	} {
		ref := preview.RefOf(body)
		p.Objects = append(p.Objects, preview.Object{ID: ref.ID(), APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name, Planned: body})
	}
	return p
}

// askAll asks for what the engine asks for, one after the other.
func askAll(t *testing.T, c reads.Cluster, p *preview.Plan) {
	t.Helper()
	ctx := t.Context()
	if target, err := c.Target(ctx); err != nil || target.Identity != "a" {
		t.Error(target, err)
	}
	var refs []preview.Ref
	c.Read(ctx, []preview.Ref{{APIVersion: "v1", Kind: "Namespace", Name: "n"}, {APIVersion: "v1", Kind: "Namespace", Name: "new"}})
	seen := map[string]bool{}
	for i := range p.Objects {
		o := &p.Objects[i]
		if !seen[o.Kind] {
			seen[o.Kind] = true
			if _, err := c.Kind(ctx, o.APIVersion, o.Kind); (preview.ReasonOf(err) == preview.ReasonNotServed) != (o.Kind == "Absent") {
				t.Error(o.Kind, err)
			}
		}
		if o.Kind != "Absent" {
			refs = append(refs, o.Ref())
		}
	}
	for i, r := range c.Read(ctx, refs) {
		if r.Ref != refs[i] || preview.RefOf(r.Body).Kind != refs[i].Kind {
			t.Errorf("%v was read for %v", r, refs[i])
		}
	}
	for _, kind := range []string{"ClusterRole", "ClusterRoleBinding", "RoleBinding"} {
		if _, err := c.List(ctx, access.APIVersion, kind, "", "", access.Fields()...); err == nil {
			t.Error(kind, "is not listed")
		}
	}
	for _, kind := range []string{"ResourceQuota", "LimitRange"} {
		if _, err := c.List(ctx, "v1", kind, "n", "", "spec"); err == nil {
			t.Error(kind, "is not listed")
		}
	}
}

func TestReadsAreMadeAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		steps, p := &distant{}, planOf(preview.ReadGet)
		askAll(t, steps, p)
		far := &distant{}
		begun := time.Now()
		c, stop := ahead.Begin(t.Context(), far, p)
		defer stop()
		askAll(t, c, p)
		if took := time.Since(begun); took > 3*trip { // kinds of one API version, their objects, what depends on those
			t.Errorf("took %s", took)
		}
		if !maps.Equal(steps.asked, far.asked) {
			t.Errorf("asked ahead for %v, and step by step for %v", far.asked, steps.asked)
		}
		synctest.Wait()
		if slices.Sort(far.merges); !slices.Equal(far.merges, []string{"apps/v1", "v1"}) {
			t.Errorf("schemas of %v are read", far.merges)
		}
	})
}

// The Roles of all namespaces are many in a large cluster, and only a path to more rights
// needs them.
func TestRolesAreListedAheadOfPlansWhoseRightsMayGiveMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, test := range []struct {
			name, resource string
			account        bool
			want           int
		}{
			{"an account that reads Secrets", "secrets", true, 1},
			{"an account that reads what gives nothing", "configmaps", true, 0},
			{"no account", "secrets", false, 0},
		} {
			p := planOf(preview.ReadDryRun)
			if !test.account {
				p.Objects = p.Objects[1:]
			}
			for _, body := range []map[string]any{
				{
					"apiVersion": access.APIVersion, "kind": "ClusterRole", "metadata": map[string]any{"name": "a"},
					"rules": []any{map[string]any{"apiGroups": []any{""}, "resources": []any{test.resource}, "verbs": []any{"get", "list"}}},
				},
				{
					"apiVersion": access.APIVersion, "kind": "ClusterRoleBinding", "metadata": map[string]any{"name": "a"},
					"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "a"},
					"subjects": []any{map[string]any{"kind": "ServiceAccount", "name": "a", "namespace": "n"}},
				},
			} {
				ref := preview.RefOf(body)
				p.Objects = append(p.Objects, preview.Object{ID: ref.ID(), APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name, Planned: body})
			}
			far := &distant{}
			c, stop := ahead.Begin(t.Context(), far, p)
			synctest.Wait()
			time.Sleep(trip)
			synctest.Wait()
			if got := far.asked["list Role "]; got != test.want {
				t.Errorf("%s: Roles are listed %d times ahead, want %d", test.name, got, test.want)
			}
			if _, err := c.List(t.Context(), access.APIVersion, "Role", "", "", access.Fields()...); err == nil || far.asked["list Role "] != 1 {
				t.Errorf("%s: Roles are listed %d times", test.name, far.asked["list Role "])
			}
			stop()
		}
	})
}

func TestWhatIsAskedForAgainIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, p := &distant{}, planOf(preview.ReadDryRun)
		c, stop := ahead.Begin(t.Context(), far, p)
		defer stop()
		askAll(t, c, p)
		again, ref := maps.Clone(far.asked), p.Objects[0].Ref()
		if n := c.Read(t.Context(), []preview.Ref{ref})[0].Body["n"]; n != int64(2) {
			t.Errorf("the second read is number %v", n)
		}
		askAll(t, c, p)
		for question, n := range again {
			if want := 2 * n; far.asked[question] != want && far.asked[question] != want+1 {
				t.Errorf("%s: asked %d times, want %d", question, far.asked[question], want)
			}
		}
	})
}

func TestAClusterThatCannotBeReadAheadIsLeftAlone(t *testing.T) {
	var none reads.Cluster
	hidden := struct{ reads.Cluster }{&distant{}}
	for _, cluster := range []reads.Cluster{none, hidden} {
		got, stop := ahead.Begin(t.Context(), cluster, planOf(preview.ReadGet))
		if stop(); got != cluster {
			t.Errorf("got %T for %T", got, cluster)
		}
	}
}

func TestTheEndOfAPlanEndsWhatWasPrepared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := &distant{}
		_, stop := ahead.Begin(t.Context(), far, planOf(preview.ReadDryRun))
		if far.plans != 1 {
			t.Error("nothing was prepared")
		}
		if stop(); far.plans != 0 {
			t.Error("what was prepared is kept")
		}
	})
}
