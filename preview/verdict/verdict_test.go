package verdict_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
)

// upgrade is a plan that changes some fields of a Deployment.
func upgrade(changes ...preview.Change) *preview.Plan {
	p := &preview.Plan{
		Request: preview.Request{Action: preview.RequestUpgrade}, Release: preview.Release{Name: "web", Namespace: "shop"},
		Base:     preview.Base{Revision: 1, Packages: []preview.InstalledPackage{{Name: "web", Version: "1.0.0"}}},
		Packages: []preview.Package{{Name: "web", Version: "1.0.0"}},
	}
	for i := range 14 {
		action := preview.ActionUnchanged
		if i == 0 {
			action = preview.ActionUpdate
		}
		p.Objects = append(p.Objects, preview.Object{Kind: "Deployment", APIVersion: "apps/v1", Name: "web", Action: action})
	}
	p.Objects[0].Changes = changes
	return p
}

func texts(v *preview.Verdict) []string {
	var out []string
	for _, h := range v.Changes {
		out = append(out, h.Topic+": "+h.Text)
	}
	return out
}

func TestAVerdictSaysWhatAnUpgradeChanges(t *testing.T) {
	replicas := preview.Change{Path: ".spec.replicas", Op: "change", From: int64(2), To: int64(3)}
	container := `.spec.template.spec.containers[name="c"]`
	tests := []struct {
		name     string
		plan     *preview.Plan
		edit     func(*preview.Plan)
		sentence string
		changes  []string
		others   int
	}{
		{
			"a replica count and nothing else", upgrade(replicas), nil,
			"Upgrades web 1.0.0 in namespace shop: 1 of 14 objects to write.",
			[]string{"field: Deployment web: .spec.replicas 2 -> 3", "objects: update: 1 Deployment"}, 0,
		},
		{
			"the image of a container, by its tag", upgrade(preview.Change{Path: container + ".image", Op: "change", From: "a.example:5000/web:1", To: "a.example:5000/web:2"}), nil,
			"Upgrades web 1.0.0 in namespace shop: 1 of 14 objects to write.",
			[]string{"image: a.example:5000/web 1 -> 2 (Deployment web)", "objects: update: 1 Deployment"}, 0,
		},
		{
			"a version, and fields that are counted", upgrade(preview.Change{Path: ".metadata.labels.a", Op: "add", To: "b"}),
			func(p *preview.Plan) { p.Packages[0].Version = "2.0.0" },
			"Upgrades web 1.0.0 -> 2.0.0 in namespace shop: 1 of 14 objects to write.",
			[]string{"version: web 1.0.0 -> 2.0.0", "objects: update: 1 Deployment"}, 1,
		},
		{
			"a permission", upgrade(),
			func(p *preview.Plan) {
				p.Access.Gained = []preview.Grant{{
					Subject: preview.Subject{Kind: "ServiceAccount", Namespace: "shop", Name: "web"}, Scope: preview.ScopeCluster,
					APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get", "list"},
				}}
			},
			"Upgrades web 1.0.0 in namespace shop: 1 of 14 objects to write; ServiceAccount shop/web gains get, list on secrets, cluster-wide.",
			[]string{"permission: ServiceAccount shop/web gains get, list on secrets, cluster-wide", "objects: update: 1 Deployment"}, 0,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.edit != nil {
				test.edit(test.plan)
			}
			v := verdict.Of(test.plan, nil)
			if v.Sentence != test.sentence {
				t.Errorf("sentence %q, want %q", v.Sentence, test.sentence)
			}
			if got := texts(v); !slices.Equal(got, test.changes) || v.OtherFields != test.others {
				t.Errorf("changes\n%s\nand %d others, want\n%s\nand %d", strings.Join(got, "\n"), v.OtherFields, strings.Join(test.changes, "\n"), test.others)
			}
		})
	}
}

func TestAnInstallHasNoChangesToName(t *testing.T) {
	p := upgrade()
	p.Base, p.Request.Action = preview.Base{}, preview.RequestInstall
	v := verdict.Of(p, []preview.Obstacle{{Object: "apps/Deployment/shop/web", Cause: "belongs to another"}})
	if len(v.Changes) > 0 || v.Sentence != "Installs web 1.0.0 in namespace shop: 1 of 14 objects to write; cannot be applied." {
		t.Errorf("%+v", v)
	}
}

func TestAVerdictSaysWhichNamespacesAreCreated(t *testing.T) {
	namespaces := func(action preview.Action, names ...string) func(*preview.Plan) {
		return func(p *preview.Plan) {
			for _, name := range names {
				p.Objects = append(p.Objects, preview.Object{Kind: "Namespace", APIVersion: "v1", Name: name, Action: action})
			}
		}
	}
	for _, tt := range []struct {
		name     string
		edit     func(*preview.Plan)
		offline  bool
		sentence string
	}{
		{"none", namespaces(preview.ActionUpdate, "shop"), false, "Installs web 1.0.0 in namespace shop: 2 of 15 objects to write."},
		{"that of the release", namespaces(preview.ActionCreate, "shop"), false, "Installs web 1.0.0 in namespace shop, which is created: 2 of 15 objects to write."},
		{"another one", namespaces(preview.ActionCreate, "jobs"), false, "Installs web 1.0.0 in namespace shop: 2 of 15 objects to write; creates namespace jobs."},
		{"all of several", namespaces(preview.ActionCreate, "a", "shop", "b"), false, "Installs web 1.0.0 in namespace shop, which is created: 4 of 17 objects to write; creates 2 other namespaces."},
		{"where no cluster was read", namespaces(preview.ActionCreate, "shop", "jobs"), true, "Installs web 1.0.0 in namespace shop, created where it is missing: 3 of 16 objects to write; creates namespace jobs where missing."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := upgrade()
			p.Base, p.Request.Action = preview.Base{}, preview.RequestInstall
			if tt.offline {
				p.ReadMode = preview.ReadOffline
			}
			tt.edit(p)
			if got := verdict.For(p).Sentence; got != tt.sentence {
				t.Errorf("got  %s\nwant %s", got, tt.sentence)
			}
		})
	}
}

func TestAVerdictSaysThatAnUpgradeGoesBack(t *testing.T) {
	p := &preview.Plan{
		Release:  preview.Release{Name: "mongodb", Namespace: "mongodb"},
		Request:  preview.Request{Action: preview.RequestUpgrade},
		Packages: []preview.Package{{Name: "mongodb", Version: "3.4.0", Notes: []preview.Note{{Rule: rules.Downgrade.Name}}}},
	}
	if got := verdict.For(p).Sentence; !strings.HasPrefix(got, "Downgrades mongodb 3.4.0") {
		t.Errorf("%q", got)
	}
	p.Packages[0].Notes = nil
	if got := verdict.For(p).Sentence; !strings.HasPrefix(got, "Upgrades mongodb 3.4.0") {
		t.Errorf("%q", got)
	}
}
