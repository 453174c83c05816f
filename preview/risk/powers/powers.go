// Package powers records which accounts have permissions that are critical by
// themselves, so that an account which can act as one of them is judged by these too.
package powers

import (
	"maps"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Set holds, for each subject, the rules that its permissions meet with level Critical.
type Set struct {
	texts map[preview.Subject]map[string]string // subject → rule → the permission in words
	// holders has the rules that ServiceAccounts meet, by namespace, and under "" for all
	// namespaces.
	holders map[string]map[string]bool
	names   map[string]bool // of ServiceAccounts
}

// New returns a set without powers.
func New() *Set {
	return &Set{texts: map[preview.Subject]map[string]string{}, holders: map[string]map[string]bool{}, names: map[string]bool{}}
}

// Add records that a permission of a subject meets a rule with level Critical. The
// text says what the subject can do; of several for the same rule the first is kept.
func (s *Set) Add(subject preview.Subject, rule, text string) {
	if s.texts[subject] == nil {
		s.texts[subject] = map[string]string{}
	}
	if _, known := s.texts[subject][rule]; !known {
		s.texts[subject][rule] = text
	}
	if subject.Kind != preview.SubjectServiceAccount {
		return
	}
	for _, namespace := range []string{"", subject.Namespace} {
		if s.holders[namespace] == nil {
			s.holders[namespace] = map[string]bool{}
		}
		s.holders[namespace][rule] = true
	}
	s.names[subject.Name] = true
}

// Rules returns the rules that a subject meets, sorted.
func (s *Set) Rules(subject preview.Subject) []string {
	return slices.Sorted(maps.Keys(s.texts[subject]))
}

// Named reports whether a ServiceAccount with the name meets a rule, in any namespace.
func (s *Set) Named(name string) bool { return s.names[name] }

// Others reports whether a ServiceAccount in the scope of a grant meets a rule that the
// grant's subject does not.
func (s *Set) Others(g preview.Grant) bool {
	for rule := range s.holders[g.Namespace] { // "" in the cluster scope
		if _, has := s.texts[g.Subject][rule]; !has {
			return true
		}
	}
	return false
}

// Gain returns what another subject can do, by the first by name of its rules that a
// subject does not meet itself; ok is false where there is none.
func (s *Set) Gain(subject, other preview.Subject) (text string, ok bool) {
	first, own := "", s.texts[subject]
	for rule, can := range s.texts[other] {
		if _, has := own[rule]; !has && (first == "" || rule < first) {
			first, text = rule, can
		}
	}
	return text, first != ""
}
