// Package powers records which accounts have permissions that are critical by
// themselves, so that an account which can act as one of them is judged by these too.
package powers

import (
	"maps"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Power is a permission that is critical by itself.
type Power struct {
	Text string       // what the subject can do
	Fact preview.Step // the same as data
}

// Set holds, for each subject, the rules that its permissions meet with level Critical.
type Set struct {
	held map[preview.Subject]map[string]Power // subject → rule → the permission
	// holders has the rules that ServiceAccounts meet, by namespace, and under "" for all
	// namespaces.
	holders map[string]map[string]bool
	names   map[string]bool // of ServiceAccounts
}

// New returns a set without powers.
func New() *Set {
	return &Set{held: map[preview.Subject]map[string]Power{}, holders: map[string]map[string]bool{}, names: map[string]bool{}}
}

// Add records that a permission of a subject meets a rule with level Critical. Of
// several for the same rule the first is kept.
func (s *Set) Add(subject preview.Subject, rule string, power Power) {
	if s.held[subject] == nil {
		s.held[subject] = map[string]Power{}
	}
	if _, known := s.held[subject][rule]; !known {
		s.held[subject][rule] = power
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
	return slices.Sorted(maps.Keys(s.held[subject]))
}

// Named reports whether a ServiceAccount with the name meets a rule, in any namespace.
func (s *Set) Named(name string) bool { return s.names[name] }

// Others reports whether a ServiceAccount in the scope of a grant meets a rule that the
// grant's subject does not.
func (s *Set) Others(g preview.Grant) bool {
	for rule := range s.holders[g.Namespace] { // "" in the cluster scope
		if _, has := s.held[g.Subject][rule]; !has {
			return true
		}
	}
	return false
}

// Gain returns what another subject can do, by the first by name of its rules that a
// subject does not meet itself; ok is false where there is none.
func (s *Set) Gain(subject, other preview.Subject) (power Power, ok bool) {
	first, own := "", s.held[subject]
	for rule, can := range s.held[other] {
		if _, has := own[rule]; !has && (first == "" || rule < first) {
			first, power = rule, can
		}
	}
	return power, first != ""
}
