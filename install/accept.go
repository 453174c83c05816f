package install

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

var fingerprintText = lazyregexp.New(`^sha256:[0-9a-f]{64}$`)

// ParseAccept parses the values of --accept, each ID=FINGERPRINT, into accepted
// findings. bare (set with --plan and --approve) also allows an ID without a
// fingerprint. An ID that is not among findings is an error of kind [NotStarted].
func ParseAccept(values []string, findings []preview.Finding, bare bool) ([]record.Acceptance, error) {
	var out []record.Acceptance
	for _, text := range values {
		a := record.Acceptance{ID: text}
		if i := strings.LastIndexByte(text, '='); i >= 0 && fingerprintText.MatchString(text[i+1:]) {
			a.ID, a.Fingerprint = text[:i], text[i+1:]
		}
		known := slices.ContainsFunc(findings, func(f preview.Finding) bool { return f.ID == a.ID })
		switch {
		case !known:
			return nil, &Error{
				Kind: NotStarted, Operation: fmt.Sprintf("reading --accept %q", text),
				Cause:  "this plan has no finding with that id",
				Advice: "run the preview and copy ID=FINGERPRINT from its findings",
			}
		case a.Fingerprint == "" && !bare:
			return nil, &Error{
				Kind: NotStarted, Operation: fmt.Sprintf("reading --accept %q", text),
				Cause:  "a bare finding id says nothing about what was seen",
				Advice: "write ID=FINGERPRINT, or add --plan or --approve",
			}
		}
		out = append(out, a)
	}
	return out, nil
}
