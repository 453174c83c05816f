package record

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install/clock"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/reads"
)

// records is the store of one release on the shared control plane, without an
// apply around it.
type records struct {
	*k8s.Client
	store  *Store
	newest *Record
}

func newRecords(t *testing.T, name string) *records {
	t.Helper()
	sb := sandboxtest.Start(t)
	client, err := k8s.Connect(t.Context(), k8s.Options{Kubeconfig: sb.Kubeconfig()})
	if err != nil {
		t.Fatal(err)
	}
	namespace := map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}
	if _, err := client.Apply(t.Context(), preview.DryRun{Body: namespace}); err != nil {
		t.Fatal(err)
	}
	return &records{Client: client, store: &Store{Cluster: client, Release: preview.Release{Name: "demo", Namespace: name}, Tool: "1.0.0", Clock: clock.System{}, Lock: unlocked{}}}
}

// unlocked is a lock that nothing else competes for.
type unlocked struct{}

func (unlocked) Confirm(context.Context) error { return nil }
func (unlocked) Prove(context.Context) error   { return nil }
func (unlocked) LostError() error              { return nil }
func (unlocked) Fence(revision int) Fence      { return Fence{Revision: revision} }

// forget leaves so many revisions on record.
func (r *records) forget(t *testing.T, limit int) {
	t.Helper()
	if err := errors.Join(r.store.Forget(t.Context(), r.newest, limit), r.store.Save(t.Context(), r.newest, nil)); err != nil {
		t.Fatal(err)
	}
}

// add records a plan as the next revision, in a state.
func (r *records) add(t *testing.T, plan *preview.Plan, state State) *Record {
	t.Helper()
	p := *plan
	p.Release = r.store.Release
	if r.newest != nil {
		p.Base = preview.Base{Revision: r.newest.Revision, Digest: r.newest.Digest}
	}
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
	record := New(&p, Approval{How: ApprovedByYes}, r.newest, "1.0.0", time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC))
	for i := range record.Objects {
		record.Objects[i].UID = preview.HashBytes([]byte(record.Objects[i].ID))[7:43]
		record.AddToInventory(&p.Objects[i], record.Objects[i].UID)
	}
	if err := r.store.Begin(t.Context(), &p, r.newest, record); err != nil {
		t.Fatal(err)
	}
	record.State = state
	if err := r.store.Save(t.Context(), record, nil); err != nil {
		t.Fatal(err)
	}
	r.newest = record
	return record
}

// names are the Secrets of the release, in order.
func (r *records) names(t *testing.T) []string {
	t.Helper()
	secrets, err := r.List(t.Context(), "v1", "Secret", r.store.Release.Namespace, preview.LabelRelease+"=demo")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range secrets {
		names = append(names, strings.TrimPrefix(preview.RefOf(s).Name, "kubectl-operator.demo"))
	}
	slices.Sort(names)
	return names
}

// manyPlan is a plan of n small ConfigMaps.
func manyPlan(t testing.TB, n int) *preview.Plan {
	t.Helper()
	p := &preview.Plan{ReadMode: preview.ReadDryRun, Packages: []preview.Package{{Name: "demo"}}}
	for i := range n {
		body := map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"name": fmt.Sprint("settings-", i), "namespace": "ns"},
			"data":     map[string]any{"key": preview.HashBytes(fmt.Append(nil, i))},
		}
		digest, err := preview.HashObject(body, "")
		if err != nil {
			t.Fatal(err)
		}
		ref := preview.RefOf(body)
		p.Objects = append(p.Objects, preview.Object{
			ID: ref.ID(), Package: "demo", APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name,
			Action: preview.ActionCreate, Digest: digest, Planned: body,
		})
	}
	return p
}

// enlarge makes a record too large for one Secret, and saves it twice: there
// are parts in both slots then.
func enlarge(t *testing.T, r *records, record *Record) {
	t.Helper()
	var noise strings.Builder
	for i := 0; noise.Len() < 4*maxPartBytes; i++ {
		noise.WriteString(preview.HashBytes(fmt.Append(nil, i))[7:])
	}
	record.Objects[0].Message = noise.String()
	for range 2 {
		if err := r.store.Save(t.Context(), record, nil); err != nil {
			t.Fatal(err)
		}
	}
	if record.slot != 2 {
		t.Fatalf("the record is in slot %d, want the second one", record.slot)
	}
}

func TestClusterRecordsOfAnySize(t *testing.T) {
	tests := []struct {
		name  string
		plan  func(testing.TB) *preview.Plan
		plans int // Secrets of the plan, at least
		parts int // Secrets of the record itself, at least
	}{
		{"five megabytes that do not compress", func(t testing.TB) *preview.Plan { return archivePlan(t, 15) }, 6, 0},
		{"three thousand objects", func(t testing.TB) *preview.Plan { return manyPlan(t, 3000) }, 1, 0},
		{"so many objects that the record itself takes several Secrets", func(t testing.TB) *preview.Plan { return manyPlan(t, 15000) }, 1, 2},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRecords(t, fmt.Sprint("size-", i))
			plan := tt.plan(t)
			want := r.add(t, plan, Applied)
			got, err := Load(t.Context(), r, r.store.Release)
			if err != nil {
				t.Fatal(err)
			}
			want.unpacked, want.stored, want.checked, want.witness = got.unpacked, got.stored, got.checked, got.witness // only what was read knows them
			if !reflect.DeepEqual(got, want) {
				t.Error("the record came back changed")
			}
			loaded, err := LoadArchivedPlan(t.Context(), r, got)
			if err != nil {
				t.Fatal(err)
			}
			if len(loaded.Objects) != len(plan.Objects) || !reflect.DeepEqual(loaded.Objects[1].Planned, plan.Objects[1].Planned) {
				t.Error("the plan came back changed")
			}
			names := r.names(t)
			if parts := len(names) - 1 - got.Archive.Parts; got.Archive.Parts < tt.plans || parts < tt.parts {
				t.Errorf("the plan is in %d Secrets and the record in %d further ones, want at least %d and %d: the test must split",
					got.Archive.Parts, parts, tt.plans, tt.parts)
			}
			t.Logf("%d objects: plan of %d bytes packed, Secrets %v", len(plan.Objects), got.Archive.Bytes, names)
		})
	}
}

// The records of several Secrets that a killed run, or another user, left incomplete.
func TestClusterTornRecordsAreRefused(t *testing.T) {
	r := newRecords(t, "torn")
	record := r.add(t, manyPlan(t, 2), Applied)
	enlarge(t, r, record)
	remove := func(t *testing.T, name string) {
		t.Helper()
		secret, err := r.Get(t.Context(), secretRef(r.store.Release, name))
		if err != nil || secret == nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := r.store.delete(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("parts of a save that came no further change nothing", func(t *testing.T) {
		changed := *record
		changed.State = Failed
		if _, _, err := r.store.header(t.Context(), &changed, 0, Keys{}); err != nil {
			t.Fatal(err)
		}
		got, err := Load(t.Context(), r, r.store.Release)
		if err != nil || got.State != Applied {
			t.Errorf("got %v, %v, want the record as it was", got, err)
		}
	})
	t.Run("a part of the plan that is gone is named", func(t *testing.T) {
		remove(t, partName("demo", 1, 1))
		if _, err := LoadArchivedPlan(t.Context(), r, record); err == nil || !strings.Contains(err.Error(), "kubectl-operator.demo.v1.1, is gone") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a part of another write is recognised", func(t *testing.T) {
		name := partName("demo", 1, slotPart(record.slot, 1))
		if err := r.store.put(t.Context(), r.store.secret(name, map[string][]byte{keyRecord: []byte("other")})); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(t.Context(), r, r.store.Release); err == nil || !strings.Contains(err.Error(), "parts are not those") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a part of the record that is gone is named", func(t *testing.T) {
		name := partName("demo", 1, slotPart(record.slot, 2))
		if err := r.store.put(t.Context(), r.store.secret(name, map[string][]byte{keyRecord: []byte("other")})); err != nil {
			t.Fatal(err)
		}
		remove(t, name)
		if _, err := Load(t.Context(), r, r.store.Release); err == nil || !strings.Contains(err.Error(), name+", is gone") {
			t.Errorf("got %v", err)
		}
	})
}

func TestClusterOldRevisionsAreForgottenAfterTheNewOneIsApplied(t *testing.T) {
	r := newRecords(t, "pruned")
	states := []State{Applied, Failed, Failed, Failed}
	for _, state := range states {
		r.add(t, manyPlan(t, 2), state)
	}
	enlarge(t, r, r.add(t, manyPlan(t, 2), Applied))
	r.add(t, manyPlan(t, 2), Applied)
	r.forget(t, 3)
	if list := r.newest.Older; len(list) != 2 || list[0].Revision != 4 || list[0].State != Failed || list[1].Revision != 5 || list[1].State != Applied {
		t.Errorf("on record are %v, want 4, which failed, and 5", list)
	}
	got, err := Load(t.Context(), r, r.store.Release)
	if err != nil || !slices.Equal(got.Older, r.newest.Older) {
		t.Errorf("the stored record lists %v, %v", got.Older, err)
	}
	for _, revision := range []int{4, 5} {
		if old, err := LoadRevision(t.Context(), r, r.store.Release, revision); err != nil || old == nil || old.Revision != revision {
			t.Errorf("revision %d: %v, %v", revision, old, err)
		}
	}
	for _, revision := range []int{1, 2, 3} {
		if old, err := LoadRevision(t.Context(), r, r.store.Release, revision); err != nil || old != nil {
			t.Errorf("revision %d: %v, %v, want none", revision, old, err)
		}
	}
	r.forget(t, 1)
	if names := r.names(t); !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, ".v5.") }) || slices.Contains(names, ".v4.0") {
		t.Errorf("with a limit of 1 there is %v, want what a rollback goes back to", names)
	}
	r.add(t, manyPlan(t, 2), Applied)
	r.forget(t, 1)
	if want := []string{"", ".v6.0", ".v6.1", ".v7.1"}; !slices.Equal(r.names(t), want) {
		t.Errorf("left are %v, want %v", r.names(t), want)
	}
}

// countingReader counts what is read of the cluster behind it.
type countingReader struct {
	Getter
	reads.Kinds // of nothing that is read here
	count       int
}

func (c *countingReader) Get(ctx context.Context, ref preview.Ref) (map[string]any, error) {
	c.count++
	return c.Getter.Get(ctx, ref)
}

func (c *countingReader) Read(ctx context.Context, refs []preview.Ref) []preview.ReadResult {
	results := make([]preview.ReadResult, len(refs))
	for i, ref := range refs {
		results[i].Ref = ref
		results[i].Body, results[i].Err = c.Get(ctx, ref)
	}
	return results
}

// A release that is watched is read every two seconds, and its older records once for
// each revision.
func TestClusterTheChainOfAReleaseReadAgainIsCheckedOncePerRevision(t *testing.T) {
	r := newRecords(t, "watched")
	for range 3 {
		r.add(t, manyPlan(t, 1), Applied)
	}
	gone := secretRef(r.store.Release, partName("demo", 1, 0))
	secret, err := r.Get(t.Context(), gone)
	if err == nil {
		_, err = r.Delete(t.Context(), gone, preview.UID(secret), preview.ResourceVersion(secret), preview.Background)
	}
	if err != nil {
		t.Fatal(err)
	}
	var earlier *Record
	for _, tt := range []struct {
		when    string
		applied bool
		reads   bool
	}{
		{"at first", false, true}, {"again", false, false}, {"after another revision", true, true}, {"again after it", false, false},
	} {
		if tt.applied {
			r.add(t, manyPlan(t, 1), Applied)
		}
		stored, err := Load(t.Context(), r, r.store.Release)
		if err != nil {
			t.Fatal(err)
		}
		cluster := &countingReader{Getter: r}
		if err := stored.CheckChainSince(t.Context(), cluster, earlier); err != nil {
			t.Fatal(err)
		}
		if (cluster.count > 0) != tt.reads {
			t.Errorf("%s: %d records are read", tt.when, cluster.count)
		}
		if stored.Signature == nil || !strings.Contains(stored.Signature.Chain, "since revision 1: its record is gone") {
			t.Errorf("%s: it is said of the chain: %v", tt.when, stored.Signature)
		}
		earlier = stored
	}
}

func TestSurplusRevisions(t *testing.T) {
	applied := func(revisions ...int) (out []KeptRevision) {
		for _, r := range revisions {
			out = append(out, KeptRevision{Revision: r, State: Applied})
		}
		return out
	}
	tests := []struct {
		name  string
		older []KeptRevision
		limit int
		want  []int
	}{
		{"fewer than the limit", applied(1, 2), 3, nil},
		{"one too many", applied(1, 2, 3), 3, []int{1}},
		{"no limit", applied(1, 2, 3), -1, nil},
		{"the last that was applied stays, however old", []KeptRevision{{Revision: 1, State: Applied}, {Revision: 2, State: Failed}, {Revision: 3, State: Failed}}, 1, []int{2, 3}},
		{"none was applied", []KeptRevision{{Revision: 1, State: Failed}, {Revision: 2, State: Abandoned}}, 1, []int{1, 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := surplusRevisions(tt.older, tt.limit); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
