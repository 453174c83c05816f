package words

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Title returns the title of a finding.
func Title(c preview.Claim) string {
	what := Statement(c)
	switch {
	case c.Subject == "":
		return what
	case c.Clause:
		return c.Subject + " " + what
	}
	return c.Subject + ": " + what
}

// Statement returns what a claim says of its subject, and where.
func Statement(c preview.Claim) string { return c.Predicate + Scope(c.Scope, c.Namespace) }

// Scope returns where a claim holds, in words that follow it: " in every namespace" or " in
// namespace X"; empty without a scope.
func Scope(scope, namespace string) string {
	switch scope {
	case preview.ScopeCluster:
		return " in every namespace"
	case preview.ScopeNamespace:
		return " in namespace " + namespace
	}
	return ""
}

// Extent returns the scope of a right: "cluster-wide" or "in namespace X".
func Extent(scope, namespace string) string {
	if scope == preview.ScopeNamespace {
		return "in namespace " + namespace
	}
	return "cluster-wide"
}

// Subject returns the kind and name of a subject, with its namespace.
func Subject(s preview.Subject) string {
	name := s.Name
	if s.Namespace != "" {
		name = s.Namespace + "/" + s.Name
	}
	return s.Kind + " " + preview.EvidenceName(name)
}

// Subjects returns several subjects.
func Subjects(list []preview.Subject) string {
	names := make([]string, len(list))
	for i, subject := range list {
		names[i] = Subject(subject)
	}
	return Series(names, "and")
}

// Evidence fills in the texts of pieces, each on one line, in their order, and returns them.
func Evidence(pieces ...preview.Piece) []preview.Piece {
	for i := range pieces {
		say(&pieces[i], lineBreaks.Replace)
		pieces[i].Text = lineBreaks.Replace(Piece(pieces[i]))
	}
	return pieces
}

// say fills in the words of what a piece saw, and makes of its arguments and words what a
// function does that takes out what may not be shown. Where that shows only in the sentence,
// the sentence is all that is kept.
func say(p *preview.Piece, shown func(string) string) {
	if p.Seen == nil {
		return
	}
	p.What = shown(Seen(*p.Seen))
	s := eachArg(*p.Seen, shown)
	if Seen(s) != p.What {
		s = Name.Of(p.What)
	}
	p.Seen = &s
}

// keyOf returns the key of what a piece saw, empty for others.
func keyOf(p preview.Piece) string {
	if p.Seen == nil {
		return ""
	}
	return p.Seen.Key
}

func masked(text string) string { return preview.MaskText(lineBreaks.Replace(text)) }

// eachArg returns a fact with what a function makes of its arguments.
func eachArg(s preview.Seen, of func(string) string) preview.Seen {
	all := func(args []string) []string {
		out := slices.Clone(args)
		for i, arg := range out {
			out[i] = of(arg)
		}
		return out
	}
	s.Args, s.With = all(s.Args), slices.Clone(s.With)
	for i := range s.With {
		s.With[i].Args = all(s.With[i].Args)
	}
	return s
}

// SortedEvidence returns pieces with their texts, sorted by [preview.ComparePieces] and without
// duplicates. What looks like a credential is masked, and of a text of more than maxLine
// bytes the rest is a hash.
func SortedEvidence(pieces []preview.Piece) []preview.Piece {
	out := slices.Clone(pieces)
	for i := range out {
		piece := &out[i]
		switch say(piece, masked); {
		case piece.Seen != nil:
			piece.Text = lineBreaks.Replace(Piece(*piece))
		case piece.What != "":
			piece.What = masked(piece.What)
			piece.Text = lineBreaks.Replace(Piece(*piece))
		default:
			piece.Text = preview.MaskText(lineBreaks.Replace(Piece(*piece)))
		}
	}
	slices.SortStableFunc(out, func(a, b preview.Piece) int {
		return cmp.Or(preview.ComparePieces(a, b), strings.Compare(keyOf(a), keyOf(b)))
	})
	out = slices.CompactFunc(out, func(a, b preview.Piece) bool { return a.Text == b.Text && reflect.DeepEqual(a.Seen, b.Seen) })
	for i := range out {
		if seen := out[i].Seen; seen != nil {
			*seen = eachArg(*seen, cutLine)
		}
		out[i].What, out[i].Text = cutLine(out[i].What), cutLine(out[i].Text)
	}
	return out
}

const maxLine = 2000

func cutLine(line string) string {
	if len(line) <= maxLine {
		return line
	}
	return strings.ToValidUTF8(line[:maxLine], "") + "… " + preview.HashBytes([]byte(line))
}

// lineBreaks replaces line breaks, so that no text in evidence can begin a line.
var lineBreaks = strings.NewReplacer("\r\n", "␤", "\n", "␤", "\r", "␤", "\u2028", "␤", "\u2029", "␤")

// EvidenceRest returns how many pieces of evidence a view omits, of which kinds, and where
// to find them, which the view says.
func EvidenceRest(pieces []preview.Piece, where string) string {
	counts := map[string]int{}
	for _, piece := range pieces {
		kind := ""
		if piece.Subject != nil {
			kind = piece.Subject.Kind
		}
		counts[kind]++
	}
	var parts []string
	for _, kind := range []string{preview.SubjectGroup, preview.SubjectUser, preview.SubjectServiceAccount} {
		if counts[kind] > 0 {
			parts = append(parts, preview.Plural(counts[kind], kind))
		}
	}
	if counts[""] > 0 && len(parts) > 0 {
		parts = append(parts, fmt.Sprintf("%d other", counts[""]))
	}
	text := preview.Plural(len(pieces), "more piece")
	if len(parts) > 0 {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	return "… " + text + " of evidence, " + where
}

// Piece returns a piece of evidence: the object and the subject with its scope, as far as
// they are set, before what was seen.
func Piece(p preview.Piece) string {
	text := PieceOf(p)
	if p.Subject != nil {
		text = subjectExtent(p) + ": " + text
	}
	if p.Item != nil && p.Item.Kind != "" {
		text = item(*p.Item) + ": " + text
	}
	if p.At != "" {
		text = "at " + p.At + ": " + text
	}
	if p.Object != "" {
		text = p.Object + ": " + text
	}
	return text
}

// subjectExtent returns the subject of a piece with the scope that its right holds in.
func subjectExtent(p preview.Piece) string {
	if p.Scope == "" {
		return Subject(*p.Subject)
	}
	return Subject(*p.Subject) + " " + Extent(p.Scope, p.Namespace)
}

// PieceOf returns what was seen, without the object and the subject.
func PieceOf(p preview.Piece) string {
	switch {
	case p.Right != nil:
		return Right(*p.Right)
	case p.Path != nil:
		return Path(*p.Path)
	case p.What == "" && p.Seen != nil:
		return Seen(*p.Seen)
	}
	return p.What
}

func item(i preview.Item) string {
	if i.Part == "" {
		return i.Kind + " " + i.Name
	}
	return i.Kind + " " + i.Name + ", " + i.Part
}

// Path returns an escalation path.
func Path(p preview.EvidencePath) string {
	switch p.Kind {
	case preview.PathOwn:
		return "by its own permissions: " + strings.Join(p.Steps, ", and ")
	case preview.PathTogether:
		text := "together " + Subjects(p.From) + ": " + strings.Join(p.Steps, ", and ")
		if p.Gains != "" {
			text += ", which " + p.Gains
		}
		return text
	}
	return Steps(p.Steps)
}

// Steps returns the steps of a path in one sentence, each by the account that the step
// before leads to.
func Steps(steps []string) string { return strings.Join(steps, ", which ") }

// Right returns a right in the words of kubectl: "get, list on secrets named a".
func Right(r preview.MatchedRight) string {
	text := Listed(r.Verbs, "all verbs")
	if len(r.Special) > 0 {
		text += " (" + Series(r.Special, "and") + " included)"
	}
	switch {
	case len(r.Resources) > 0:
		text += " on " + Resources(r.Resources, r.APIGroups)
	case len(r.NonResourceURLs) > 0:
		text += " on " + Listed(r.NonResourceURLs, "all non-resource URLs")
	}
	if len(r.ResourceNames) > 0 {
		text += " named " + preview.EvidenceName(strings.Join(r.ResourceNames, ","))
	}
	return text
}

// Resources returns resources with their API groups.
func Resources(resources, groups []string) string {
	return Listed(resources, "all resources") + inGroups(groups)
}

// inGroups returns API groups as " in GROUP, GROUP"; empty for the core group alone, which
// kubectl does not name either.
func inGroups(groups []string) string {
	if slices.Equal(groups, []string{""}) {
		return ""
	}
	if slices.Contains(groups, all) {
		return " in all API groups"
	}
	return " in " + strings.Join(CoreNamed(groups), ", ")
}

const all = "*"

// Listed returns words separated by commas, or the text wildcard if "*" is among them.
func Listed(words []string, wildcard string) string {
	if slices.Contains(words, all) {
		return wildcard
	}
	return strings.Join(words, ", ")
}

// Series returns "a", "a or b" and "a, b or c".
func Series(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	n := len(words) - 1
	return strings.Join(words[:n], ", ") + " " + last + " " + words[n]
}

// CoreNamed returns API groups with "core" for the core group, whose name is empty.
func CoreNamed(groups []string) []string {
	named := slices.Clone(groups)
	for i, group := range named {
		if group == "" {
			named[i] = "core"
		}
	}
	return named
}
