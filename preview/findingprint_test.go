package preview_test

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Each field of a piece that is data moves the fingerprint; its words, and verbs that the
// program only points out, do not.
func TestFingerprintsAreOfPiecesAsData(t *testing.T) {
	pieces := func() []preview.Piece {
		return []preview.Piece{{
			Object: "o", At: "a", Item: &preview.Item{Kind: "container", Name: "web"}, Subject: &preview.Subject{Kind: "User", Name: "eve"},
			Scope: preview.ScopeNamespace, Namespace: "app", What: "what", Text: "text",
		}, {
			Right: &preview.MatchedRight{Verbs: []string{"*"}, Special: []string{"bind"}, APIGroups: []string{""}, Resources: []string{"pods"}},
		}, {
			Path: &preview.EvidencePath{
				Kind: preview.PathTogether, From: []preview.Subject{{Kind: "User", Name: "eve"}}, Steps: []string{"a", "b"}, Gains: "c",
			},
		}}
	}
	pieces = withSeen(pieces)
	base := preview.FindingFingerprint("rule", pieces()...)
	if base == preview.FindingFingerprint("another", pieces()...) {
		t.Error("the rule does not move it")
	}
	for name, test := range map[string]struct {
		change func(p []preview.Piece)
		same   bool
	}{
		"text":           {func(p []preview.Piece) { p[0].Text = "other words" }, true},
		"words":          {func(p []preview.Piece) { p[1].What, p[2].What = "other words", "other words" }, true},
		"special verbs":  {func(p []preview.Piece) { p[1].Right.Special = nil }, true},
		"order":          {func(p []preview.Piece) { p[0], p[2] = p[2], p[0] }, true},
		"a duplicate":    {func(p []preview.Piece) { p[1] = p[0] }, false},
		"object":         {func(p []preview.Piece) { p[0].Object = "x" }, false},
		"at":             {func(p []preview.Piece) { p[0].At = "x" }, false},
		"item":           {func(p []preview.Piece) { p[0].Item.Kind = "x" }, false},
		"item's name":    {func(p []preview.Piece) { p[0].Item.Name = "x" }, false},
		"item's part":    {func(p []preview.Piece) { p[0].Item.Part = "x" }, false},
		"no item":        {func(p []preview.Piece) { p[0].Item = nil }, false},
		"subject":        {func(p []preview.Piece) { p[0].Subject.Namespace = "x" }, false},
		"scope":          {func(p []preview.Piece) { p[0].Scope = "x" }, false},
		"namespace":      {func(p []preview.Piece) { p[0].Namespace = "x" }, false},
		"what alone":     {func(p []preview.Piece) { p[0].What = "x" }, false},
		"verbs":          {func(p []preview.Piece) { p[1].Right.Verbs = []string{"get"} }, false},
		"groups":         {func(p []preview.Piece) { p[1].Right.APIGroups = nil }, false},
		"resources":      {func(p []preview.Piece) { p[1].Right.Resources = []string{"pods", "x"} }, false},
		"names":          {func(p []preview.Piece) { p[1].Right.ResourceNames = []string{"x"} }, false},
		"URLs":           {func(p []preview.Piece) { p[1].Right.NonResourceURLs = []string{"x"} }, false},
		"path":           {func(p []preview.Piece) { p[2].Path.Kind = preview.PathOwn }, false},
		"from":           {func(p []preview.Piece) { p[2].Path.From = nil }, false},
		"a fact's words": {func(p []preview.Piece) { p[3].What, p[3].Text = "other words", "other words" }, true},
		"a fact":         {func(p []preview.Piece) { p[3].Seen.Key = "x" }, false},
		"arguments":      {func(p []preview.Piece) { p[3].Seen.Args = []string{"a 2"} }, false},
		"details":        {func(p []preview.Piece) { p[3].Seen.With[0].Args = nil }, false},
		"steps":          {func(p []preview.Piece) { p[2].Path.Steps = []string{"b", "a"} }, false},
		"gains":          {func(p []preview.Piece) { p[2].Path.Gains = "x" }, false},
	} {
		changed := pieces()
		test.change(changed)
		if got := preview.FindingFingerprint("rule", changed...) == base; got != test.same {
			t.Errorf("%s: same fingerprint %v, want %v", name, got, test.same)
		}
	}
}

func withSeen(of func() []preview.Piece) func() []preview.Piece {
	return func() []preview.Piece {
		seen := &preview.Seen{Key: "k", Args: []string{"a", "2"}, With: []preview.Detail{{Key: "d", Args: []string{"b"}}}}
		return append(of(), preview.Piece{Seen: seen, What: "k a 2", Text: "k a 2"})
	}
}

// No text of a piece passes for another piece, field or rule.
func TestFingerprintsCannotBeForged(t *testing.T) {
	right := func(verbs, groups []string) preview.Piece {
		return preview.Piece{Right: &preview.MatchedRight{Verbs: verbs, APIGroups: groups}}
	}
	of := func(pieces ...preview.Piece) string { return preview.FindingFingerprint("r", pieces...) }
	path := func(facts ...preview.Step) preview.Piece {
		return preview.Piece{Path: &preview.EvidencePath{Facts: facts}}
	}
	fact := func(key string, args ...string) preview.Piece {
		return preview.Piece{Seen: &preview.Seen{Key: key, Args: args}}
	}
	for name, pair := range map[string][2]string{
		"a mark":            {of(preview.Piece{What: "a; b"}), of(preview.Piece{What: "a"}, preview.Piece{What: "b"})},
		"a colon":           {of(preview.Piece{Object: "a", What: "b"}), of(preview.Piece{What: "a: b"})},
		"fields":            {of(preview.Piece{Object: "a"}), of(preview.Piece{At: "a"})},
		"an item":           {of(preview.Piece{Item: &preview.Item{}}), of(preview.Piece{Subject: &preview.Subject{}})},
		"lists":             {of(right([]string{"a"}, []string{"b"})), of(right([]string{"a", "b"}, nil))},
		"a length":          {of(preview.Piece{Object: "1:a", What: "b"}), of(preview.Piece{Object: "1", What: "a1:b"})},
		"an earlier one":    {of(preview.Piece{What: "a"}), preview.TextFingerprint("r", "a")},
		"the rule's end":    {of(), preview.FindingFingerprint("r0[")},
		"a right as words":  {of(right([]string{"get"}, nil)), of(preview.Piece{What: "get"})},
		"arguments":         {of(fact("k", "a", "b")), of(fact("k", "a b"))},
		"a key":             {of(fact("k", "a")), of(fact("k a"))},
		"a fact as words":   {of(fact("k")), of(preview.Piece{What: "k"})},
		"steps' accounts":   {of(path(preview.Step{Account: &preview.Subject{Name: "a"}})), of(path(preview.Step{Name: "a"}))},
		"steps' rights":     {of(path(preview.Step{Right: &preview.MatchedRight{}})), of(path(preview.Step{}))},
		"two steps":         {of(path(preview.Step{Key: "a"}, preview.Step{Key: "b"})), of(path(preview.Step{Key: "b"}, preview.Step{Key: "a"}))},
		"an empty argument": {of(right(nil, nil)), of(right([]string{""}, nil))},
	} {
		if pair[0] == pair[1] {
			t.Errorf("%s: two findings have one fingerprint", name)
		}
	}
}

// Where the steps of a path are data, their words do not move the fingerprint.
func TestStepsOfPathsAreFacts(t *testing.T) {
	of := func(words string, s preview.Step) string {
		path := &preview.EvidencePath{Steps: []string{words}, Gains: words, Facts: []preview.Step{s}}
		return preview.FindingFingerprint("r", preview.Piece{Path: path})
	}
	account := &preview.Subject{Kind: "ServiceAccount", Namespace: "app", Name: "admin"}
	base := preview.Step{Key: "runs-workload", Kind: "pods", Namespace: "app", Account: account}
	if of("runs pods", base) != of("starts pods", base) {
		t.Error("words of a step move the fingerprint")
	}
	for name, change := range map[string]func(*preview.Step){
		"key":       func(s *preview.Step) { s.Key = "x" },
		"rule":      func(s *preview.Step) { s.Rule = "x" },
		"scope":     func(s *preview.Step) { s.Scope = "x" },
		"kind":      func(s *preview.Step) { s.Kind = "x" },
		"name":      func(s *preview.Step) { s.Name = "x" },
		"namespace": func(s *preview.Step) { s.Namespace = "x" },
		"account":   func(s *preview.Step) { s.Account = nil },
		"right":     func(s *preview.Step) { s.Right = &preview.MatchedRight{Verbs: []string{"get"}} },
	} {
		changed := base
		change(&changed)
		if of("runs pods", changed) == of("runs pods", base) {
			t.Errorf("the %s of a step does not move the fingerprint", name)
		}
	}
}

func TestAcceptancesOfAnEarlierRulesetCountForTheSameWords(t *testing.T) {
	f := preview.Finding{Rule: "r"}
	f.SetEvidence([]preview.Piece{{What: "a", Text: "a"}, {Right: &preview.MatchedRight{Verbs: []string{"get"}}, Text: "get"}})
	earlier := preview.TextFingerprint("r", "a; get")
	another := preview.TextFingerprint("r", "a; got")
	if !f.HasFingerprint(f.Fingerprint) || !f.HasFingerprint(earlier) || f.HasFingerprint(another) || f.HasFingerprint("") {
		t.Error("an acceptance counts for another finding, or not for its own")
	}
	for name, test := range map[string]struct {
		accepted map[string]int
		want     int
	}{
		"none":        {nil, 0},
		"its own":     {map[string]int{f.Fingerprint: 3, earlier: 2}, 3},
		"in words":    {map[string]int{earlier: 2}, 2},
		"other words": {map[string]int{another: 2}, 0},
	} {
		if got := f.AcceptedRevision(test.accepted); got != test.want {
			t.Errorf("%s: accepted in %d, want %d", name, got, test.want)
		}
	}
}

func BenchmarkFindingFingerprint(b *testing.B) {
	piece := preview.Piece{Item: &preview.Item{Kind: "container", Name: "web"}, What: strings.Repeat("x", 40)}
	for b.Loop() {
		preview.FindingFingerprint("pod-root", piece)
	}
}
