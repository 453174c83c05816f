package install_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// sharing is two releases; the second brings a definition of the first.
type sharing struct {
	owner, sharer *world
	id            string // of the definition
}

func newSharing(t *testing.T, name string) *sharing {
	t.Helper()
	s := &sharing{owner: newWorld(t, name+"-owner"), sharer: newWorld(t, name+"-sharer")}
	s.id = "apiextensions.k8s.io/CustomResourceDefinition/-/things." + s.owner.release.Name + ".example.com"
	return s
}

// definition returns the owner's definition, with a description.
func (s *sharing) definition(description string) string {
	text := strings.ReplaceAll(definition, "GROUP", s.owner.release.Name+".example.com")
	return strings.Replace(text, "{type: object,", "{description: "+description+", type: object,", 1)
}

func (s *sharing) live(t *testing.T) map[string]any {
	t.Helper()
	return s.owner.read(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "things."+s.owner.release.Name+".example.com")
}

func (s *sharing) plan(t *testing.T, description string, choose func(*engine.Options)) *preview.Plan {
	t.Helper()
	return s.sharer.planWith(t, choose, s.sharer.content(t, "1.0.0", s.definition(description), configMap("a", description)))
}

func asIs(*engine.Options) {}

func adopting(o *engine.Options) { o.Apply.Adopt = true }

func refusedWith(t *testing.T, w *world, plan *preview.Plan, want ...string) {
	t.Helper()
	before := len(w.writes(t))
	_, err := install.Apply(t.Context(), plan, byDigest(plan), w, w.options(t))
	if err == nil || install.KindOf(err) != install.Refused {
		t.Fatalf("%v, want a refusal", err)
	}
	var refusal *install.Error
	if !errors.As(err, &refusal) {
		t.Fatal(err)
	}
	for _, text := range want {
		if !strings.Contains(strings.Join(refusal.Reasons, "\n"), text) {
			t.Errorf("%q does not say %q", refusal.Reasons, text)
		}
	}
	if after := w.writes(t); len(after) != before {
		t.Errorf("a refused plan wrote %v", after[before:])
	}
}

// TestClusterDefinitionIsSharedWhileItIsTheSame: the release that comes second writes
// nothing to it, both list it, and the first goes only if what the second loses is accepted.
func TestClusterDefinitionIsSharedWhileItIsTheSame(t *testing.T) {
	for _, mode := range []preview.ReadMode{preview.ReadDryRun, preview.ReadGet} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			s := newSharing(t, "share-"+string(mode))
			in := func(o *engine.Options) { o.ReadMode = mode }
			s.owner.apply(t, s.owner.plan(t, s.owner.content(t, "1.0.0", s.definition("one"))))
			before := s.live(t)
			plan := s.plan(t, "one", in)
			if o := plan.Object(s.id); o.Action != preview.ActionShared {
				t.Fatalf("it is planned as %s: %s", o.Action, engine.BlockedBy(plan, o))
			}
			s.sharer.apply(t, plan)
			if after := s.live(t); preview.String(after, "metadata", "resourceVersion") != preview.String(before, "metadata", "resourceVersion") {
				t.Errorf("sharing wrote to it: %v", after["metadata"])
			}
			for _, w := range []*world{s.owner, s.sharer} {
				stored, err := record.Load(t.Context(), w, w.release)
				if err != nil || !slices.ContainsFunc(stored.Inventory, func(i record.Item) bool { return i.Ref().ID() == s.id }) {
					t.Errorf("%s lists %v, %v", w.release.Name, stored.Inventory, err)
				}
			}
			if again := s.plan(t, "one", in); again.Summary.Changes() || again.Summary.Shared != 1 {
				t.Errorf("a second plan says %+v", again.Summary)
			}

			if f := findingWith(s.owner.plan(t), "crd-shared/"+s.id); f == nil || f.Severity != preview.Warning {
				t.Errorf("the review of a removal that keeps it says %+v", f)
			}
			removal := s.owner.planWith(t, func(o *engine.Options) {
				o.Request.Action, o.Apply.IncludeCRDs = preview.RequestUninstall, true
			})
			if f := findingWith(removal, "crd-shared/"+s.id); f == nil || f.Severity != preview.Critical {
				t.Errorf("the review of the removal does not say so: %+v", f)
			}
			sharer := "release " + s.sharer.release.Name + " in namespace " + s.sharer.release.Namespace
			unaccepted := record.Approval{Digest: removal.Digest, How: record.ApprovedByYes, Ruleset: preview.Ruleset}
			if err := install.Gate(removal, unaccepted); err == nil || !strings.Contains(err.Error(), "crd-shared/"+s.id) {
				t.Errorf("the removal passes without an acceptance of what the sharer loses: %v", err)
			}
			upgrade := s.owner.plan(t, s.owner.content(t, "2.0.0", s.definition("two")))
			if f := findingWith(upgrade, "crd-shared/"+s.id); f == nil || f.Severity != preview.Warning || !strings.Contains(f.Title, sharer) {
				t.Errorf("the review of an upgrade does not say who shares it: %+v", f)
			}

			// Only what is in the sharer's own namespace is its operator's.
			thing := func(w *world) string {
				return "{apiVersion: " + s.owner.release.Name + ".example.com/v1, kind: Thing, metadata: {name: one, namespace: " + w.release.Namespace + "}}"
			}
			s.owner.makes(t, thing(s.owner))
			s.owner.makes(t, thing(s.sharer))
			refusedWith(t, s.sharer, s.sharer.plan(t), "1 Thing."+s.owner.release.Name+".example.com still exist")
			s.owner.edit(t, "delete", "things."+s.owner.release.Name+".example.com", "one", "-n", s.sharer.release.Namespace)
			s.sharer.apply(t, s.sharer.plan(t))
			s.owner.edit(t, "delete", "things."+s.owner.release.Name+".example.com", "one", "-n", s.owner.release.Namespace)
			if s.live(t) == nil {
				t.Fatal("the sharer took it along")
			}
			stored, err := record.Load(t.Context(), s.sharer, s.sharer.release)
			if err != nil || len(stored.Inventory) != 0 {
				t.Errorf("the release that is gone lists %v, %v", stored.Inventory, err)
			}
			s.owner.apply(t, s.owner.plan(t))
		})
	}
}

// TestClusterOneDifferenceIsNotShared: neither in what the two releases bring, nor in
// what the cluster has.
func TestClusterOneDifferenceIsNotShared(t *testing.T) {
	s := newSharing(t, "differs")
	s.owner.apply(t, s.owner.plan(t, s.owner.content(t, "1.0.0", s.definition("one"))))
	owner := "belongs to release " + s.owner.release.Name + " in namespace " + s.owner.release.Namespace

	other := s.plan(t, "two", asIs)
	if a := other.Object(s.id).Action; a != preview.ActionBlocked {
		t.Fatalf("another form is planned as %s", a)
	}
	refusedWith(t, s.sharer, other, owner, "has another form of it")
	refusedWith(t, s.sharer, s.plan(t, "two", adopting), owner)

	s.owner.edit(t, "patch", "crd", "things."+s.owner.release.Name+".example.com", "--type=json",
		`-p=[{"op":"replace","path":"/spec/versions/0/schema/openAPIV3Schema/description","value":"edited"}]`)
	refusedWith(t, s.sharer, s.plan(t, "one", asIs), owner, "is not as that release left it", "kubectl operator status "+s.owner.release.Name)
}

// TestClusterOwnerOfASharedDefinitionMoves: a plan that shares stands on what the
// owner's record said.
func TestClusterOwnerOfASharedDefinitionMoves(t *testing.T) {
	s := newSharing(t, "moves")
	s.owner.apply(t, s.owner.plan(t, s.owner.content(t, "1.0.0", s.definition("one"), configMap("x", "1"))))
	plan := s.plan(t, "one", asIs)
	s.owner.apply(t, s.owner.plan(t, s.owner.content(t, "2.0.0", s.definition("two"))))
	refusedWith(t, s.sharer, plan, s.id)
	s.owner.apply(t, s.owner.plan(t, s.owner.content(t, "3.0.0", s.definition("one"))))
	s.sharer.apply(t, s.plan(t, "one", asIs))
}

// TestClusterWhatAReleaseLeftBehindCanBeTakenOver: the definition that an uninstall kept
// is in no one's way, and the record that says so may be gone, too.
func TestClusterWhatAReleaseLeftBehindCanBeTakenOver(t *testing.T) {
	for _, how := range []string{"uninstalled", "forgotten"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := newSharing(t, "left-"+how)
			s.owner.apply(t, s.owner.plan(t, s.owner.content(t, "1.0.0", s.definition("one"))))
			s.owner.apply(t, s.owner.plan(t))
			if how == "forgotten" {
				s.owner.edit(t, "delete", "namespace", s.owner.release.Namespace)
			}
			refusedWith(t, s.sharer, s.plan(t, "two", asIs), "was left behind by release "+s.owner.release.Name, "--adopt")
			plan := s.plan(t, "two", adopting)
			if o := plan.Object(s.id); o.Action != preview.ActionAdopt || o.Adoption == nil {
				t.Fatalf("it is planned as %s: %v", o.Action, plan.Unknowns)
			}
			s.sharer.apply(t, plan)
			if live := s.live(t); !preview.IsMember(live, s.sharer.release) || preview.String(live, "metadata", "labels", preview.LabelRelease) != s.sharer.release.Name {
				t.Errorf("it is marked %v", preview.Map(live, "metadata", "labels"))
			}
			if again := s.plan(t, "two", asIs); again.Summary.Changes() {
				t.Errorf("afterwards a plan says %+v", again.Summary)
			}
		})
	}
}

// TestClusterSharingWithLittleRights: who may not write definitions, nor list the
// Secrets of all namespaces, can share where the owner is easy to find.
func TestClusterSharingWithLittleRights(t *testing.T) {
	s := newSharing(t, "little")
	s.owner.apply(t, s.owner.plan(t, s.owner.content(t, "1.0.0", s.definition("one"))))
	s.sharer.edit(t, "create", "namespace", s.sharer.release.Namespace)
	user := s.sharer.release.Name + "-user"
	for _, args := range [][]string{
		{"create", "clusterrolebinding", user, "--clusterrole=view", "--user=" + user},
		{"create", "clusterrole", user, "--verb=get", "--resource=customresourcedefinitions,namespaces"},
		{"create", "clusterrolebinding", user + "-crds", "--clusterrole=" + user, "--user=" + user},
		{"create", "rolebinding", user, "--clusterrole=admin", "--user=" + user, "-n", s.sharer.release.Namespace},
		{"create", "role", user, "--verb=*", "--resource=leases.coordination.k8s.io", "-n", s.sharer.release.Namespace},
		{"create", "rolebinding", user + "-leases", "--role=" + user, "--user=" + user, "-n", s.sharer.release.Namespace},
	} {
		s.owner.edit(t, args...)
	}
	s.sharer.Client = connect(t, sandboxtest.User(t, s.sharer.sandbox, user))
	refusedWith(t, s.sharer, s.plan(t, "one", asIs), "whose record may not be read")
	s.owner.edit(t, "create", "role", user, "--verb=get", "--resource=secrets", "-n", s.owner.release.Namespace)
	s.owner.edit(t, "create", "rolebinding", user, "--role="+user, "--user="+user, "-n", s.owner.release.Namespace)
	plan := s.plan(t, "one", asIs)
	if o := plan.Object(s.id); o.Action != preview.ActionShared {
		t.Fatalf("it is planned as %s: %s", o.Action, engine.BlockedBy(plan, o))
	}
	s.sharer.apply(t, plan)
}

// TestClusterAMemberWithAnotherSetIsNotLeftBehind: the release that its label names is
// this one, which is installed.
func TestClusterAMemberWithAnotherSetIsNotLeftBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "relabelled")
	w.apply(t, w.plan(t, w.content(t, "1.0.0", configMap("settings", "one"))))
	w.edit(t, "label", "configmap", "settings", "-n", w.release.Namespace, "--overwrite", preview.LabelPartOf+"=applyset-none-v1")
	plan := w.plan(t, w.content(t, "2.0.0", configMap("settings", "two")))
	refusedWith(t, w, plan, "has the name of this release in the label "+preview.LabelRelease+", and no release has the set", "--adopt")
	for _, o := range plan.Verdict.Obstacles {
		if strings.Contains(o.Cause, "left behind") {
			t.Errorf("it says %s", o.Cause)
		}
	}
}
