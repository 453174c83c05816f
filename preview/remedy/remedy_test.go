package remedy

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// doneByHand are the steps for causes that have neither a command nor a flag.
var doneByHand = map[Cause]string{
	HiddenOwner:     "get the right to read Secret a/b, and preview again",
	ApplierFails:    "create it, or correct the reference to it",
	DeniedByWebhook: "set what it asks for, by --set or in the content, then preview again",
	UnknownAction:   "apply it with the version that made it, or preview again with this one",
}

// Each cause of a refusal by the gate has a remedy: a command, a flag or a sentence of
// advice. Its commands name the cluster that the plan is for.
func TestEachCauseHasARemedy(t *testing.T) {
	object := &preview.Object{ID: "core/ConfigMap/shop/it's", APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "it's"}
	plan := &preview.Plan{AppliedBy: &preview.Applier{}, Request: preview.Request{Flags: []string{"--context=a cluster", "--values=own.yaml"}}}
	for cause := range causes {
		c := Case{
			Plan: plan, Object: object, ID: object.ID, Release: preview.Release{Name: "other", Namespace: "theirs"},
			Owner: preview.Ref{APIVersion: "argoproj.io/v1alpha1", Kind: "Application", Namespace: "argocd", Name: "shop"}, Set: "applyset-1", Hidden: "Secret a/b", Quota: "small", Policy: "ValidatingAdmissionPolicy house",
		}
		found := Obstacle(cause, "is in the way", c)
		if found.Object != object.ID || found.Cause != "is in the way" || found.Remedy == "" {
			t.Errorf("cause %d: %+v", cause, found)
		}
		commands := strings.Count(found.Remedy, "kubectl ") // of this program and of kubectl
		if named := strings.Count(found.Remedy, "'--context=a cluster'"); named != commands {
			t.Errorf("cause %d: %d of %d commands name the cluster: %s", cause, named, commands, found.Remedy)
		}
		if byHand := doneByHand[cause]; commands+len(found.Flags) == 0 && found.Remedy != byHand {
			t.Errorf("cause %d has neither a command nor a flag: %s", cause, found.Remedy)
		}
		if strings.Contains(found.Remedy, "own.yaml") {
			t.Errorf("cause %d: %s", cause, found.Remedy)
		}
	}
}

func TestTheRemedyForAKindThatIsNotServed(t *testing.T) {
	for id, want := range map[string]string{
		"cert-manager.io/Issuer/shop/own":           "kubectl operator install chart+https://charts.jetstack.io/cert-manager",
		"route.openshift.io/Route/shop/own":         "the package is for OpenShift",
		"monitoring.coreos.com/ServiceMonitor/a/b":  "kubectl operator search servicemonitor",
		"an id that a plan file has, and is no one": "install first what brings its CRD",
	} {
		if got := Obstacle(NotServed, "", Case{Plan: &preview.Plan{}, ID: id}).Remedy; !strings.Contains(got, want) {
			t.Errorf("%s: %s", id, got)
		}
	}
}

func TestTheRemedyForAnObjectThatDoesNotFitItsSchemaNamesTheSchema(t *testing.T) {
	thing := preview.Object{ID: "example.com/Thing/shop/a", APIVersion: "example.com/v1", Kind: "Thing", Namespace: "shop", Name: "a"}
	definition := preview.Object{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "things.example.com", Planned: map[string]any{
		"spec": map[string]any{"group": "example.com", "names": map[string]any{"kind": "Thing"}},
	}}
	for _, tt := range []struct {
		name    string
		objects []preview.Object
		want    string
	}{
		{"of a kind that the plan brings, in its definition", []preview.Object{definition, thing}, "the schema is in CustomResourceDefinition things.example.com of the plan"},
		{"of another kind, by kubectl", []preview.Object{thing}, "kubectl explain thing --api-version=example.com/v1"},
	} {
		finding := preview.Finding{Rule: rules.NotAppliable.Name, Object: thing.ID, Pieces: []preview.Piece{{Object: thing.ID, What: ".spec must be a map"}}}
		got := Misfits(&preview.Plan{Objects: tt.objects, Findings: []preview.Finding{finding}})
		if len(got) != 1 || !strings.Contains(got[0].Remedy, tt.want) || got[0].Cause != "does not fit the schema of its kind: .spec must be a map" {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}

// Ways to settle a conflict are offered, but none that puts the package's CA in place of
// the live one: neither for the object that has it, nor by a decision for all objects.
func TestTheRemedyForContestedFields(t *testing.T) {
	webhooks := func(conflicts ...string) preview.Object {
		o := preview.Object{
			ID: "admissionregistration.k8s.io/MutatingWebhookConfiguration/-/w", APIVersion: "admissionregistration.k8s.io/v1", Kind: "MutatingWebhookConfiguration", Name: "w",
			Planned: map[string]any{"webhooks": []any{map[string]any{"name": "a", "failurePolicy": "Fail", "clientConfig": map[string]any{"caBundle": "x", "url": "u"}}}},
		}
		for _, path := range conflicts {
			o.Conflicts = append(o.Conflicts, preview.Conflict{Manager: "injector", Path: path})
		}
		return o
	}
	config := preview.Object{
		ID: "core/ConfigMap/shop/c", APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "c", Planned: map[string]any{"data": map[string]any{"k": "v"}},
		Conflicts: []preview.Conflict{{Manager: "edit", Path: ".data.k"}},
	}
	role := preview.Object{
		ID: "rbac.authorization.k8s.io/Role/shop/r", APIVersion: "rbac.authorization.k8s.io/v1", Kind: "Role", Namespace: "shop", Name: "r", Planned: map[string]any{"rules": []any{}},
		Conflicts: []preview.Conflict{{Manager: "edit", Path: ".rules"}},
	}
	const ca, policy = `.webhooks[name="a"].clientConfig.caBundle`, `.webhooks[name="a"].failurePolicy`
	for _, tt := range []struct {
		name      string
		conflicts string
		object    preview.Object
		beside    []preview.Object
		flags     string
		words     string
	}{
		{"a field", preview.ConflictsFail, config, nil, "--conflicts take", "--conflicts leave"},
		{"a role", preview.ConflictsFail, role, nil, "--conflicts take", "settle it there"},
		{"a role where the others are left", preview.ConflictsLeave, role, nil, "--conflicts " + role.ID + "=take", "settle it there"},
		{"a CA", preview.ConflictsFail, webhooks(ca), nil, "--conflicts " + webhooks().ID + "=leave", "the live caBundle stays"},
		{"a CA beside what cannot be left", preview.ConflictsFail, webhooks(ca, policy), nil, "", "kubectl edit"},
		{"a policy", preview.ConflictsFail, webhooks(policy), nil, "--conflicts take", "settle it there"},
		{"a field beside a CA", preview.ConflictsFail, config, []preview.Object{webhooks(ca)}, "--conflicts " + config.ID + "=take", config.ID + "=leave"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &preview.Plan{Objects: append([]preview.Object{tt.object}, tt.beside...), Options: preview.Options{Conflicts: tt.conflicts}}
			got := Obstacle(Contested, "", Case{Plan: p, Object: &p.Objects[0], ID: tt.object.ID})
			if strings.Join(got.Flags, " ") != tt.flags || !strings.Contains(got.Remedy, tt.words) {
				t.Errorf("%q: %s", got.Flags, got.Remedy)
			}
			if tt.flags == "" {
				return
			}
			decided, single := strings.CutPrefix(got.Flags[1], tt.object.ID+"=")
			p.Options.Conflicts = decided
			if unsettled := p.Unsettled(&p.Objects[0]); len(unsettled) > 0 || single == (tt.flags == "--conflicts take") {
				t.Errorf("%q does not settle %v", got.Flags, unsettled)
			}
		})
	}
}

// A tool that fails before it writes says what is in its way, by name.
func TestWhyAToolFailsNamesWhatItIsAbout(t *testing.T) {
	release := preview.Release{Name: "web", Namespace: "shop"}
	for want, by := range map[string]preview.Applier{
		"release/shop/web has an operation that is under way or was interrupted (pending-upgrade), and Helm refuses another": {
			Tool: preview.ApplierHelm, State: "pending-upgrade", Fails: preview.FailsPending,
		},
		"helm.toolkit.fluxcd.io/HelmRelease/shop/web reads its content from HelmRepository shop/charts, which does not exist": {
			Tool: preview.ApplierFlux, Object: "helm.toolkit.fluxcd.io/HelmRelease/shop/web",
			Fails: preview.FailsNoSource, FailsOn: "source.toolkit.fluxcd.io/HelmRepository/shop/charts",
		},
		"operators.coreos.com/Subscription/shop/web is not resolved while ClusterServiceVersion shop/web.v1 of the same package is there, which no Subscription has installed": {
			Tool: preview.ApplierOLMv0, Object: "operators.coreos.com/Subscription/shop/web",
			Fails: preview.FailsUnfollowed, FailsOn: "operators.coreos.com/ClusterServiceVersion/shop/web.v1",
		},
	} {
		found := Failing(&preview.Plan{Release: release, AppliedBy: &by})
		if len(found) != 1 || found[0].Object+" "+found[0].Cause != want {
			t.Errorf("%+v, want %s", found, want)
		}
	}
}
