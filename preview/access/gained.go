package access

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Gained is an account that another account can act as.
type Gained struct {
	Account preview.Subject
	by      *origin
}

// Path returns the shortest way to act as the account. Its extent is empty.
func (g Gained) Path() EscalationPath { return g.by.path("") }

// Gained returns the ServiceAccounts that an account can act as and of which keep
// returns true, in the order in which the search gains them; the account itself may be
// among them. The search ends where it reaches [ClusterAdmin]. All calls for one graph
// must have the same keep, which is asked once for each account.
func (n *AccountGraph) Gained(from preview.Subject, keep func(preview.Subject) bool) []Gained {
	s := n.search(from)
	if s.listed {
		return s.gained
	}
	s.listed = true
	for _, o := range slices.Concat(s.origins, s.again) {
		if o.text == "" || o.subject.Kind != preview.SubjectServiceAccount {
			continue
		}
		kept, asked := n.kept[o.subject]
		if !asked {
			kept = keep(o.subject)
			n.kept[o.subject] = kept
		}
		if kept {
			s.gained = append(s.gained, Gained{o.subject, o})
		}
	}
	return s.gained
}
