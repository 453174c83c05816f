// Package risk evaluates a table of rules on the grants, objects and cloud permissions
// of a plan, and returns sorted findings. It reads the plan only, so the same plan has
// the same findings on any machine and when loaded again.
package risk

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/hostile"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// Input holds a plan and the state of the cluster that rules look at.
type Input struct {
	// Plan must have its objects with bodies, and its grants and cloud permissions with
	// Change set. Evaluate writes Rules of grants and cloud permissions and
	// Access.Accounts, and nothing else.
	Plan *preview.Plan
	// RelatedImages are the images that a package declares to use (relatedImages of
	// OLM). Nil means that the package has no such list, and is not the same as an empty
	// list.
	RelatedImages []string
	// Reach holds the grants and accounts of the cluster that escalation paths may use.
	// Its Grants are the plan's.
	Reach access.GraphInput
	// Extra are findings made outside of this package. One with the id of a finding made
	// here is dropped; several with the same id are merged.
	Extra []preview.Finding
	// Blocked returns why an object is blocked and what to do, in words that follow the
	// object's id; nil to say only what the plan itself knows.
	Blocked func(o *preview.Object) string
	// Accepted maps fingerprints of findings that were accepted earlier to the revision
	// that accepted them. Such a finding is lowered only if it is about something that
	// the cluster has already and the plan leaves as it is.
	Accepted map[string]int
	// Older are the findings of the version that the plan is compared with. A finding that
	// it has too is lowered as an accepted one is, and only if it is about something that
	// is the same in both versions.
	Older OlderFindings
}

// OlderFindings are the findings of the version that a plan is compared with.
type OlderFindings struct {
	Version    string                      // its name, for [preview.Finding.AlsoIn]
	Severities map[string]preview.Severity // by fingerprint
}

// has reports whether the older version has a finding for the same reason, at least as
// severe, about something that the plan leaves as it is. The fingerprint alone does not
// say so: evidence such as "container web: privileged" does not name what runs there.
func (older OlderFindings) has(f *preview.Finding) bool {
	was, known := older.Severities[f.Fingerprint]
	return known && f.Held && was.Rank() <= f.Severity.Rank()
}

// Evaluate returns the plan's findings, sorted by severity, then those about the whole
// cluster before those in namespaces, then new and widened before unchanged, then by
// rule and object. A critical finding is a warning with AcceptedIn set if its
// fingerprint was accepted earlier and it is about something in the cluster that the
// plan does not touch. The only error is that in has no plan.
func Evaluate(in Input) ([]preview.Finding, error) {
	if in.Plan == nil {
		return nil, errNoPlan
	}
	c := newScan(in)
	c.hostile = hostile.Start(in.Plan.Objects)
	defer c.hostile.Wait()
	c.judgeGrants()
	c.judgeObjects()
	c.judgeAccounts()
	c.judgeContent()
	c.judgeUnknownKinds()
	c.judgeKindsOfOthers()
	c.judgeCodeBudget()
	c.judgeMissingCAs()
	c.judgePodSecurity()
	c.judgeQuotas()
	c.judgePlatforms()
	c.judgeBoundSubjects()
	c.judgeTogether()
	c.judgeEscalation()
	in.Plan.Access.Accounts = c.accountExtents()
	c.judgeCloud()
	c.judgeCredentialsMode()
	for _, u := range in.Plan.Unknowns {
		c.hit(rules.Unknown, ruleHit{
			object: u.Object, evidence: rules.Said(u.Why), cases: casesOf(rules.Unknown, rules.Said(c.unknownCase(u))), severity: preview.NotKnown,
		})
	}
	c.extra(in.Extra)
	return c.findings(in), nil
}

// unknownCase returns what the cases of [rules.Unknown] are for: why the API server refused a
// request, else the kind of the object.
func (c *scan) unknownCase(u preview.Unknown) string {
	switch {
	case u.Reason == preview.ReasonNotServed && c.objects[u.Object] == nil: // it is installed alone
		return rules.UnreadKind
	case u.Reason != "":
		return string(u.Reason)
	}
	_, kind, _, _, _ := preview.ParseID(u.Object)
	return kind
}

// ruleHit is one match of a rule; matches with the same rule and object are merged into
// one finding.
type ruleHit struct {
	object   string        // object id
	claim    preview.Claim // without Predicate it gets the rule's title, without Subject the object
	cases    map[int]bool  // indexes of the rule's cases that the evidence is about
	evidence []preview.Piece
	level    Level
	severity preview.Severity // overrides level when not empty
	subjects []preview.Subject
	narrow   bool // only namespaces are affected
	known    bool // as in the installed revision, or narrowed since
	held     bool // is in the cluster, and the plan does not touch what decides it
}

// mergedFinding is a finding with the merged matches and the values that it is sorted
// by.
type mergedFinding struct {
	preview.Finding
	rule          rules.Rule // empty for a finding of Input.Extra
	cases         map[int]bool
	level         Level
	lines         []preview.Piece
	narrow, known bool
	fixed         bool // a finding of Input.Extra, with evidence to be left as it is
}

func (c *scan) hit(rule rules.Rule, h ruleHit) {
	id := rule.Name + "/" + h.object
	if h.level == None {
		h.level = rule.Level
	}
	m, ok := c.found[id]
	if !ok {
		m = &mergedFinding{
			Finding: preview.Finding{ID: id, Rule: rule.Name, Ref: rule.Ref, Object: h.object, Claim: h.claim},
			rule:    rule, cases: map[int]bool{}, narrow: true, known: true,
		}
		m.Held = true
		c.found[id] = m
	}
	if m.narrow && !h.narrow {
		m.Claim = cmp.Or(h.claim, m.Claim)
	}
	maps.Copy(m.cases, h.cases)
	m.addSubjects(h.subjects)
	m.lines = append(m.lines, h.evidence...)
	m.narrow, m.known, m.Held = m.narrow && h.narrow, m.known && h.known, m.Held && h.held
	if h.level > m.level {
		m.level, m.Severity = h.level, h.level.Severity()
	}
	if h.severity != "" && m.Severity != preview.NotKnown { // of a match before
		m.Severity = h.severity
	}
}

// addSubjects adds the accounts that a match is about to the finding, each once.
func (m *mergedFinding) addSubjects(subjects []preview.Subject) {
	for _, s := range subjects {
		if at, known := slices.BinarySearchFunc(m.Subjects, s, preview.CompareSubjects); !known {
			m.Subjects = slices.Insert(m.Subjects, at, s)
		}
	}
}

// extra adds findings that were made outside of this package (Input.Extra).
func (c *scan) extra(list []preview.Finding) {
	ours := map[string]bool{}
	for id := range c.found {
		ours[id] = true
	}
	for _, f := range list {
		if ours[f.ID] {
			continue
		}
		m, ok := c.found[f.ID]
		if !ok {
			f.Held = c.idle[f.Object] != nil && c.untouched(c.idle[f.Object])
			c.found[f.ID] = &mergedFinding{Finding: f, lines: f.Pieces, fixed: true}
			continue
		}
		m.lines, m.fixed = append(slices.Clip(m.lines), f.Pieces...), false
		if f.Severity.Rank() < m.Severity.Rank() {
			m.Severity = f.Severity
		}
	}
}

func (c *scan) findings(in Input) []preview.Finding {
	list := make([]*mergedFinding, 0, len(c.found))
	for _, m := range c.found {
		m.word()
		if !m.fixed {
			m.SetEvidence(words.SortedEvidence(m.lines))
		}
		if in.Older.has(&m.Finding) {
			m.AlsoIn = in.Older.Version
		}
		revision := m.AcceptedRevision(in.Accepted)
		switch {
		case m.Severity != preview.Critical:
		case revision > 0 && m.Held:
			m.Severity, m.AcceptedIn = preview.Warning, revision
		case m.AlsoIn != "":
			m.Severity, m.Lowered = preview.Warning, true
		}
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b *mergedFinding) int {
		return cmp.Or(
			a.Severity.Rank()-b.Severity.Rank(), preview.FalseFirst(a.narrow, b.narrow), preview.FalseFirst(a.known, b.known),
			strings.Compare(a.Rule, b.Rule), strings.Compare(a.Object, b.Object),
		)
	})
	out := make([]preview.Finding, 0, len(list))
	for _, m := range list {
		out = append(out, m.Finding)
	}
	return out
}

// word sets the title and reason of a finding, in the words of the rule's cases that
// the evidence is about.
func (m *mergedFinding) word() {
	if m.rule.Name == "" {
		return
	}
	m.Case = m.rule.CaseOf(m.cases)
	rule := m.rule.Worded(m.Case)
	m.Why = rule.Why
	if m.Claim.Predicate == "" {
		m.Claim.Predicate, m.Claim.Subject = rule.Title, cmp.Or(m.Claim.Subject, preview.IDLabel(m.Object))
	}
	m.Title = words.Title(m.Claim)
}
