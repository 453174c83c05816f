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

// Used returns the grants that let an account act as one that it gains.
func (n *AccountGraph) Used(g Gained, from preview.Subject) []preview.Grant {
	return n.used(g.by, from)
}

// Gained returns the ServiceAccounts that an account can act as, in the order that the
// search gains them; the account itself may be among them. Of accounts for which like
// returns the same text, only the first is returned, and none where it is empty. The
// search ends where it reaches [ClusterAdmin]. All calls for one graph must have the same
// like, which is asked once for each account.
func (n *AccountGraph) Gained(from preview.Subject, like func(preview.Subject) string) []Gained {
	s := n.search(from)
	if s.listed {
		return s.gained
	}
	s.listed = true
	seen := map[string]bool{"": true}
	for _, o := range slices.Concat(s.origins, s.again) {
		if o.step == nil || o.subject.Kind != preview.SubjectServiceAccount {
			continue
		}
		text, asked := n.alike[o.subject]
		if !asked {
			text = like(o.subject)
			n.alike[o.subject] = text
		}
		if !seen[text] {
			seen[text] = true
			s.gained = append(s.gained, Gained{o.subject, o})
		}
	}
	return s.gained
}
