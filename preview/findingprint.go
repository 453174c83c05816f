package preview

import (
	"bytes"
	"slices"
	"strconv"
)

// FindingFingerprint returns the fingerprint of a finding, which an acceptance names: the
// hash of its rule and of what its pieces say as data, in any order. No role name, file or
// line enters it, and no words where a piece is typed: those may change without a new
// acceptance. The number of a case is left out too, as the pieces decide the case.
func FindingFingerprint(rule string, pieces ...Piece) string {
	all, facts := make(identity, 0, 256*len(pieces)), make([][]byte, len(pieces))
	ends := make([]int, len(pieces))
	for i := range pieces {
		all.piece(&pieces[i])
		ends[i] = len(all)
	}
	begin := 0
	for i, end := range ends {
		facts[i], begin = all[begin:end], end
	}
	slices.SortFunc(facts, bytes.Compare)
	facts = slices.CompactFunc(facts, bytes.Equal)
	b := make(identity, 0, len(all)+len(rule)+64)
	b = append(b, "finding\x00"...)
	b.text(rule)
	b.count(len(facts), '[')
	for _, fact := range facts {
		b.count(len(fact), ':')
		b = append(b, fact...)
	}
	return HashBytes(b)
}

// TextFingerprint returns the fingerprint that a finding had up to ruleset 7: the hash of its
// rule and of its evidence in words.
func TextFingerprint(rule, evidence string) string {
	return HashBytes([]byte(rule + "\n" + evidence))
}

// HasFingerprint reports whether an acceptance that names a fingerprint is about the finding.
// One that was made up to ruleset 7 is if it names the same words.
func (f *Finding) HasFingerprint(fingerprint string) bool {
	return fingerprint != "" && (fingerprint == f.Fingerprint || fingerprint == TextFingerprint(f.Rule, f.Evidence))
}

// AcceptedRevision returns the revision that accepted the finding, of those that are listed by
// fingerprint; 0 for none.
func (f *Finding) AcceptedRevision(accepted map[string]int) int {
	if len(accepted) == 0 {
		return 0
	}
	if revision := accepted[f.Fingerprint]; revision > 0 {
		return revision
	}
	return accepted[TextFingerprint(f.Rule, f.Evidence)]
}

// identity is an encoding of data in which each text has its length before it, so that no
// text can pass for another one and what follows.
type identity []byte

func (b *identity) byte(c byte) { *b = append(*b, c) }

func (b *identity) count(n int, mark byte) { *b = append(strconv.AppendInt(*b, int64(n), 10), mark) }

func (b *identity) text(s string) {
	b.count(len(s), ':')
	*b = append(*b, s...)
}

func (b *identity) list(of []string) {
	b.count(len(of), '[')
	for _, s := range of {
		b.text(s)
	}
}

func (b *identity) subject(s Subject) {
	b.text(s.Kind)
	b.text(s.Namespace)
	b.text(s.Name)
}

// right adds a right without Special, which follows from Verbs and a table of the program.
func (b *identity) right(r MatchedRight) {
	b.byte('r')
	for _, list := range [][]string{r.Verbs, r.APIGroups, r.Resources, r.ResourceNames, r.NonResourceURLs} {
		b.list(list)
	}
}

func (b *identity) step(s *Step) {
	b.byte('t')
	for _, text := range []string{s.Key, s.Rule, s.Scope, s.Kind, s.Name, s.Namespace} {
		b.text(text)
	}
	if s.Right != nil {
		b.right(*s.Right)
	}
	if s.Account != nil {
		b.byte('s')
		b.subject(*s.Account)
	}
}

// piece adds what a piece says as data. Two pieces that add the same are the same piece, whatever
// their words.
func (b *identity) piece(p *Piece) {
	b.text(p.Object)
	b.text(p.At)
	b.text(p.Scope)
	b.text(p.Namespace)
	if p.Item != nil {
		b.byte('i')
		b.text(p.Item.Kind)
		b.text(p.Item.Name)
		b.text(p.Item.Part)
	}
	if p.Subject != nil {
		b.byte('s')
		b.subject(*p.Subject)
	}
	switch {
	case p.Right != nil:
		b.right(*p.Right)
	case p.Path != nil:
		b.byte('p')
		b.text(p.Path.Kind)
		for _, from := range p.Path.From {
			b.byte('s')
			b.subject(from)
		}
		for i := range p.Path.Facts {
			b.step(&p.Path.Facts[i])
		}
		if len(p.Path.Facts) == 0 { // of a version of the program that had none
			b.list(p.Path.Steps)
			b.text(p.Path.Gains)
		}
	case p.Seen != nil:
		b.byte('f')
		b.text(p.Seen.Key)
		b.list(p.Seen.Args)
		for _, more := range p.Seen.With {
			b.byte('f')
			b.text(more.Key)
			b.list(more.Args)
		}
	default:
		b.byte('w')
		b.text(p.What)
	}
}
