package tui

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// severalPlan installs a package and one that it requires.
func severalPlan(t *testing.T) *preview.Plan {
	b := newPlan(t, preview.RequestInstall)
	b.object(preview.ActionCreate, deployment("quay.io/mongodb/mongodb-kubernetes:1.10.0", 1), nil, nil)
	b.object(preview.ActionCreate, manifest("v1", "ServiceAccount", "mongodb", "issuer", nil), nil, nil)
	b.p.Objects[1].Package = "cert-manager"
	b.p.Packages[0].Via[0].Why = "the newest of channel stable that >=1.8 allows"
	b.p.Packages[0].Via[0].Rejected = []preview.Rejected{{Catalog: "quay.io/other/catalog:v1", Version: "1.11.0", Why: "deprecated"}}
	b.p.Packages[0].Dependencies = []preview.Dependency{{Constraint: "package cert-manager >=1.14", By: "cert-manager", Detail: "1.16.5"}}
	b.p.Packages[0].Notes = []preview.Note{{Rule: "format-external", Object: "package/mongodb", Text: "ran kubectl-operator-format-cue sha256:11, with your rights, not sandboxed"}}
	b.p.Packages = append(b.p.Packages, preview.Package{
		Name: "cert-manager", Version: "1.16.5", Format: "registry+v1", ContentDigest: digestOf("other"),
		Sources:      []preview.Source{{Kind: "image", Reference: "quay.io/jetstack/bundle:1.16.5", Digest: digestOf("other bundle")}},
		Verification: preview.Verification{Status: "verified", Identity: "key " + digestOf("signer")},
	})
	b.finding(preview.Warning, "image-moved", "POD-12", deployObject, "Deployment operator: runs another image under the same tag", "The tag was moved since the installed revision.",
		"quay.io/mongodb/mongodb-kubernetes:1.10.0 was "+digestOf("before"))
	return b.seal()
}

func TestTheSourceOfSeveralPackages(t *testing.T) {
	p := severalPlan(t)
	for _, size := range sizes {
		m, c := reviewOf(t, p, size[0], size[1])
		drive(m, c, "6")
		golden(t, "source-several/"+sizeName(size)+"/packages", m, size[0], size[1])
		drive(m, c, "end")
		golden(t, "source-several/"+sizeName(size)+"/end", m, size[0], size[1])
	}
}

// What a person compares must be there to the last digit, however narrow the
// window.
func TestNoDigestOfTheSourceIsCut(t *testing.T) {
	p := severalPlan(t)
	for _, size := range [][2]int{{40, 12}, {60, 20}, {80, 24}, {99, 30}, {120, 36}} {
		m, c := reviewOf(t, p, size[0], size[1])
		drive(m, c, "6")
		var digits strings.Builder
		for _, r := range m.browser().rows {
			digits.WriteString(strings.TrimSpace(r.line(m.size.width - 3).Plain()))
		}
		for _, digest := range []string{p.Digest, p.ContentDigest, p.Packages[0].Sources[0].Digest, p.Images[0].Digest, digestOf("before")} {
			if !strings.Contains(digits.String(), strings.TrimPrefix(digest, "sha256:")) {
				t.Errorf("%v: %s is cut", size, digest)
			}
		}
	}
}
