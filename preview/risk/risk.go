// Package risk judges a plan: a table of rules over its grants, objects and
// cloud permissions becomes ranked findings. It reads the plan only, so the
// same plan has the same findings on any machine and when loaded again.
package risk

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// Input holds a plan and the state of the cluster that rules look at.
type Input struct {
	// Plan has its objects with bodies, grants and cloud permissions with
	// Change set, and unknowns. Evaluate writes Rules of grants and cloud
	// permissions, what the accounts amount to, and nothing else.
	Plan *preview.Plan
	// RelatedImages are the references a package lists. Nil when no list is
	// known, which is not the same as an empty one.
	RelatedImages []string
	// Reach holds the grants and accounts of the cluster that escalation
	// paths may lead over. Its Grants are the plan's own.
	Reach access.GraphInput
	// Extra are findings made elsewhere. One that a rule here makes too is
	// dropped, several with one id are one.
	Extra []preview.Finding
	// Blocked says what is in the way of a blocked object and what to do about
	// it, in words that follow its id; nil where only the plan itself is known.
	Blocked func(o *preview.Object) string
	// Accepted maps fingerprints of earlier accepted findings to the revision
	// that accepted them. One counts only for what the cluster has already and
	// the plan leaves as it is.
	Accepted map[string]int
	// Older are the fingerprints of the findings that the version has which the
	// plan is compared with.
	Older map[string]bool
}

// Evaluate returns the plan's findings: by severity, then what reaches the
// whole cluster before what stays in a namespace, then new and widened before
// unchanged, then by rule and object. A critical finding that was accepted
// with the same fingerprint, and is about what the cluster has and the plan does
// not touch, is a warning that says in which revision. It fails only when the
// plan is missing.
func Evaluate(in Input) ([]preview.Finding, error) {
	if in.Plan == nil {
		return nil, errNoPlan
	}
	c := newScan(in)
	c.judgeGrants()
	c.judgeObjects()
	c.judgeContent()
	c.judgeUnknownKinds()
	c.judgeCodeBudget()
	c.judgeMissingCAs()
	c.judgePodSecurity()
	c.judgeQuotas()
	c.judgePlatforms()
	c.judgeBoundSubjects()
	c.judgeEscalation()
	in.Plan.Access.Accounts = c.accountExtents()
	c.judgeCloud()
	c.judgeCredentialsMode()
	for _, u := range in.Plan.Unknowns {
		c.hit(rules.Unknown, ruleHit{
			object: u.Object, evidence: []string{u.Why}, cases: lineCases(rules.Unknown, []string{u.Why}), severity: preview.NotKnown,
		})
	}
	c.extra(in.Extra)
	return c.findings(in), nil
}

// ruleHit is one match of a rule before it is merged with others of its id.
type ruleHit struct {
	object   string // object id
	title    string // empty: made of about, the rule's title and where
	about    string // empty for the object
	where    string
	cases    map[int]bool // cases of the rule that the evidence is about
	evidence []string
	level    Level
	severity preview.Severity // overrides level when not empty
	subjects []preview.Subject
	narrow   bool // stays in namespaces
	known    bool // unchanged or narrowed since the installed revision
	held     bool // in the cluster already, and left as it is
}

// mergedFinding is a finding with its sort key.
type mergedFinding struct {
	preview.Finding
	rule          rules.Rule // empty for one made elsewhere
	about, where  string
	cases         map[int]bool
	level         Level
	lines         []string
	narrow, known bool
	fixed         bool // made elsewhere: evidence stays as it is
}

func (c *scan) hit(rule rules.Rule, h ruleHit) {
	id := rule.Name + "/" + h.object
	if h.level == None {
		h.level = rule.Level
	}
	m, ok := c.found[id]
	if !ok {
		m = &mergedFinding{
			Finding: preview.Finding{ID: id, Rule: rule.Name, Ref: rule.Ref, Object: h.object, Title: h.title},
			rule:    rule, about: cmp.Or(h.about, preview.IDLabel(h.object)), where: h.where, cases: map[int]bool{}, narrow: true, known: true,
		}
		m.Held = true
		c.found[id] = m
	}
	if m.narrow && !h.narrow {
		m.Title, m.about, m.where = cmp.Or(h.title, m.Title), cmp.Or(h.about, m.about), cmp.Or(h.where, m.where)
	}
	maps.Copy(m.cases, h.cases)
	m.addSubjects(h.subjects)
	m.lines = append(m.lines, h.evidence...)
	m.narrow, m.known, m.Held = m.narrow && h.narrow, m.known && h.known, m.Held && h.held
	if h.level > m.level {
		m.level, m.Severity = h.level, h.level.Severity()
	}
	if h.severity != "" {
		m.Severity = h.severity
	}
}

// addSubjects adds the accounts that a match is about, each once.
func (m *mergedFinding) addSubjects(subjects []preview.Subject) {
	for _, s := range subjects {
		if at, known := slices.BinarySearchFunc(m.Subjects, s, preview.CompareSubjects); !known {
			m.Subjects = slices.Insert(m.Subjects, at, s)
		}
	}
}

// extra adds findings made elsewhere.
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
			f.Held = c.idle[f.Object]
			c.found[f.ID] = &mergedFinding{Finding: f, lines: []string{f.Evidence}, fixed: true}
			continue
		}
		m.lines, m.fixed = append(m.lines, f.Evidence), false
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
			m.Evidence = evidence(m.lines)
			m.Fingerprint = preview.FindingFingerprint(m.Rule, m.Evidence)
		}
		revision := in.Accepted[m.Fingerprint]
		switch {
		case m.Severity != preview.Critical:
		case revision > 0 && m.Held:
			m.Severity, m.AcceptedIn = preview.Warning, revision
		case in.Older[m.Fingerprint]:
			m.Severity = preview.Warning
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

// word sets title and reason of a finding, by the case of the rule that its
// evidence belongs to.
func (m *mergedFinding) word() {
	if m.rule.Name == "" {
		return
	}
	rule := m.rule.Worded(m.cases)
	m.Why = rule.Why
	if m.Title == "" {
		m.Title = m.about + ": " + rule.Title + m.where
	}
}

// evidence joins the lines of a finding without duplicates, people before
// accounts; see [preview.CompareEvidence]. A very long line is cut, and its hash
// added.
func evidence(lines []string) string {
	lines = slices.Clone(lines)
	for i, line := range lines {
		lines[i] = lineBreaks.Replace(line)
	}
	slices.SortFunc(lines, preview.CompareEvidence)
	lines = slices.Compact(lines)
	for i, line := range lines {
		if len(line) > maxLine {
			lines[i] = strings.ToValidUTF8(line[:maxLine], "") + "… " + preview.HashBytes([]byte(line))
		}
	}
	return strings.Join(lines, preview.EvidenceMark)
}

// lineBreaks shows line breaks: nothing in evidence begins a line of its own.
var lineBreaks = strings.NewReplacer("\r\n", "␤", "\n", "␤", "\r", "␤")

const maxLine = 2000
