package engine_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// Anyone who can write a plan file can also compute every hash in it again. The file
// must still say what apply would do, or it is refused.
func TestForgedPlansWithRightHashesAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name  string
		forge func(*preview.Plan)
	}{
		{"an object listed twice, once to be created and once to be deleted", func(p *preview.Plan) {
			twin := *firstOf(p, "ClusterRole")
			twin.Planned, twin.Digest, twin.Action = nil, "", preview.ActionDelete
			p.Objects = append(p.Objects, twin)
		}},
		{"two packages of one name", func(p *preview.Plan) {
			p.Packages = append(p.Packages, p.Packages[0])
		}},
		{"findings accepted by a revision that there is not", func(p *preview.Plan) {
			p.Base.Accepted = map[string]int{}
			for _, f := range p.Findings {
				p.Base.Accepted[f.Fingerprint] = 1
			}
		}},
		{"an object without the release's labels", func(p *preview.Plan) {
			delete(preview.Map(firstOf(p, "ClusterRole").Planned, "metadata"), "labels")
		}},
		{"an object labelled as another release's", func(p *preview.Plan) {
			preview.Map(firstOf(p, "ClusterRole").Planned, "metadata", "labels")[preview.LabelPartOf] = "applyset-other-v1"
		}},
		{"an object with a uid of its own", func(p *preview.Plan) {
			preview.Map(firstOf(p, "ClusterRole").Planned, "metadata")["uid"] = "1234"
		}},
		{"an object with a name that leaves its path", func(p *preview.Plan) {
			o := firstOf(p, "ServiceAccount")
			o.Name = "../../../../x"
			preview.Map(o.Planned, "metadata")["name"] = o.Name
			o.ID = o.Ref().ID()
		}},
		{"a Secret whose values are where no mask looks for them", func(p *preview.Plan) {
			o := firstOf(p, "ServiceAccount")
			o.Kind = "Secret"
			o.Planned["kind"], o.Planned["stringData"] = "Secret", map[string]any{"a": "b"}
			o.ID = o.Ref().ID()
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := mustOffline(t, bundle("mongodb", "1.11.0"))
			for i := range p.Objects {
				p.Objects[i].Planned = preview.CloneBody(p.Objects[i].Planned)
			}
			tt.forge(p)
			reseal(t, p)
			_, _, err := engine.Verify(reload(t, encode(t, p)), k8s.NewSchemas())
			var refused *engine.RefusedError
			if !errors.As(err, &refused) {
				t.Errorf("%v, want a refusal", err)
			}
			t.Log(err)
		})
	}
}

func firstOf(p *preview.Plan, kind string) *preview.Object {
	i := slices.IndexFunc(p.Objects, func(o preview.Object) bool { return o.Kind == kind })
	return &p.Objects[i]
}

// reseal computes every hash of a plan again, as its forger would.
func reseal(t *testing.T, p *preview.Plan) {
	t.Helper()
	var err error
	for i := range p.Objects {
		o := &p.Objects[i]
		pin := ""
		if o.Package != "" {
			pin = p.Packages[0].Sources[0].Digest
		}
		if o.Planned == nil {
			continue
		}
		if o.Digest, err = preview.HashObject(o.Planned, pin); err != nil {
			t.Fatal(err)
		}
	}
	members := slices.DeleteFunc(slices.Clone(p.Objects), func(o preview.Object) bool { return o.Package == "" || o.Planned == nil })
	for i := range p.Packages {
		if p.Packages[i].ContentDigest, err = preview.ContentDigest(p.Release, p.Packages[i], members, p.Files); err != nil {
			t.Fatal(err)
		}
	}
	p.Stages = preview.BuildStages(p.Objects, "")
	if err := engine.Derive(p, k8s.NewSchemas()); err != nil {
		t.Fatal(err)
	}
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
}
