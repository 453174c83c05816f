package install

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

var fingerprintText = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// ParseAccept reads the values of --accept: ID=FINGERPRINT, or the bare ID
// when bare is set (together with --plan or --approve). An id that the plan
// has no finding for is an error of kind [NotStarted].
func ParseAccept(values []string, findings []preview.Finding, bare bool) ([]Acceptance, error) {
	var out []Acceptance
	for _, text := range values {
		a := Acceptance{ID: text}
		if i := strings.LastIndexByte(text, '='); i >= 0 && fingerprintText.MatchString(text[i+1:]) {
			a.ID, a.Fingerprint = text[:i], text[i+1:]
		}
		known := slices.ContainsFunc(findings, func(f preview.Finding) bool { return f.ID == a.ID })
		switch {
		case !known:
			return nil, &Error{
				Kind: NotStarted, Doing: fmt.Sprintf("reading --accept %q", text),
				Came: "this plan has no finding with that id",
				Next: "run the preview and copy ID=FINGERPRINT from its findings",
			}
		case a.Fingerprint == "" && !bare:
			return nil, &Error{
				Kind: NotStarted, Doing: fmt.Sprintf("reading --accept %q", text),
				Came: "a bare finding id says nothing about what was seen",
				Next: "write ID=FINGERPRINT, or add --plan or --approve",
			}
		}
		out = append(out, a)
	}
	return out, nil
}

// WithReviewed returns the approval with the critical findings of the plan it
// was given on accepted. What only a policy makes critical is not among them: no
// plan file approves that; nor what the plan file had not as critical.
func (a Approval) WithReviewed(findings []preview.Finding) Approval {
	a.Accepted = slices.Clone(a.Accepted)
	for _, f := range findings {
		accepted := Acceptance{ID: f.ID, Fingerprint: f.Fingerprint}
		if f.Severity == preview.Critical && f.Judged == nil && !f.Unreviewed && !slices.Contains(a.Accepted, accepted) {
			a.Accepted = append(a.Accepted, accepted)
		}
	}
	return a
}

// accepts reports whether the approval names a finding: by id and fingerprint,
// or by its bare id when the approval is bound to one plan anyway.
func (a Approval) accepts(f preview.Finding) bool {
	return slices.ContainsFunc(a.Accepted, func(x Acceptance) bool {
		if x.ID != f.ID {
			return false
		}
		return x.Fingerprint == f.Fingerprint || x.Fingerprint == "" && a.How != ApprovedByYes
	})
}
