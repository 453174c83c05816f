package review

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// severalPlan installs a package and one that it requires.
func severalPlan(t *testing.T) *preview.Plan {
	b := tuitest.NewPlan(t, preview.RequestInstall)
	b.Object(preview.ActionCreate, tuitest.Deployment("quay.io/mongodb/mongodb-kubernetes:1.10.0", 1), nil, nil)
	b.Object(preview.ActionCreate, tuitest.Manifest("v1", "ServiceAccount", "mongodb", "issuer", nil), nil, nil)
	b.Plan.Objects[1].Package = "cert-manager"
	b.Plan.Packages[0].Via[0].Why = "the newest of channel stable that >=1.8 allows"
	b.Plan.Packages[0].Via[0].Rejected = []preview.RejectedCandidate{{Catalog: "quay.io/other/catalog:v1", Version: "1.11.0", Why: "deprecated"}}
	b.Plan.Packages[0].Dependencies = []preview.Dependency{{Constraint: "package cert-manager >=1.14", By: "cert-manager", Detail: "1.16.5"}}
	b.Plan.Packages[0].Notes = []preview.Note{{Rule: "format-external", Object: "package/mongodb", Text: "ran kubectl-operator-format-cue sha256:11, with your rights, not sandboxed"}}
	b.Plan.Packages = append(b.Plan.Packages, preview.Package{
		Name: "cert-manager", Version: "1.16.5", Format: "registry+v1", ContentDigest: tuitest.DigestOf("other"),
		Sources:      []preview.Source{{Kind: "image", Reference: "quay.io/jetstack/bundle:1.16.5", Digest: tuitest.DigestOf("other bundle")}},
		Verification: preview.Verification{Status: "verified", Identity: "key " + tuitest.DigestOf("signer")},
	})
	b.Finding(preview.Warning, "image-moved", "POD-12", tuitest.DeployObject, "Deployment operator: runs another image under the same tag", "The tag was moved since the installed revision.",
		"quay.io/mongodb/mongodb-kubernetes:1.10.0 was "+tuitest.DigestOf("before"))
	b.Plan.Findings[len(b.Plan.Findings)-1].Pieces[0].Item = &preview.Item{Name: "quay.io/mongodb/mongodb-kubernetes:1.10.0"}
	return b.Seal()
}

func TestTheSourceOfSeveralPackages(t *testing.T) {
	p := severalPlan(t)
	for _, size := range tuitest.Sizes {
		m, c := reviewOf(t, p, size[0], size[1])
		tuitest.Drive(m, c, "6")
		golden(t, "source-several/"+tuitest.SizeName(size)+"/packages", m, size[0], size[1])
		tuitest.Drive(m, c, "end")
		golden(t, "source-several/"+tuitest.SizeName(size)+"/end", m, size[0], size[1])
	}
}

// What a person compares must be there to the last digit, however narrow the
// window.
func TestNoDigestOfTheSourceIsCut(t *testing.T) {
	p := severalPlan(t)
	for _, size := range [][2]int{{40, 12}, {60, 20}, {80, 24}, {99, 30}, {120, 36}} {
		m, c := reviewOf(t, p, size[0], size[1])
		tuitest.Drive(m, c, "6")
		var digits strings.Builder
		for _, r := range m.activeTab().rows {
			digits.WriteString(strings.TrimSpace(r.Line(m.Size.Width - 3).Plain()))
		}
		for _, digest := range []string{p.Digest, p.ContentDigest, p.Packages[0].Sources[0].Digest, p.Images[0].Digest, tuitest.DigestOf("before")} {
			if !strings.Contains(digits.String(), strings.TrimPrefix(digest, "sha256:")) {
				t.Errorf("%v: %s is cut", size, digest)
			}
		}
	}
}
