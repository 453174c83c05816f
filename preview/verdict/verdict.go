// Package verdict makes the summary at the top of a review: one sentence, what prevents
// the plan from being applied, what it changes of what is installed, and its findings
// in groups.
package verdict

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/renamed"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// Of returns the verdict on a plan whose findings and grants are complete. obstacles
// are the reasons why it cannot be applied.
func Of(p *preview.Plan, obstacles []preview.Obstacle) *preview.Verdict {
	v := &preview.Verdict{Obstacles: obstacles, Changes: []preview.Highlight{}, Groups: []preview.FindingGroup{}, Mitigations: []preview.Mitigation{}}
	if obstacles == nil {
		v.Obstacles = []preview.Obstacle{}
	}
	if p.Base.Revision > 0 || p.Against != nil {
		c := changes{plan: p}
		c.collect()
		v.Changes, v.OtherFields = c.list, c.others
	}
	for _, g := range Groups(p.Findings, p.Access.Accounts) {
		entry := preview.FindingGroup{Label: g.Label(), Severity: g.Severity(), Title: g.Title()}
		for _, f := range g.Findings {
			entry.Findings = append(entry.Findings, f.ID)
			texts := make([]string, 0, len(f.Pieces)) // without what was counted, which cannot be verified
			for _, piece := range f.Pieces {
				texts = append(texts, piece.Text)
			}
			entry.Evidence = append(entry.Evidence, texts)
		}
		v.Groups = append(v.Groups, entry)
	}
	v.Sentence = sentence(p, v)
	return v
}

// For returns the verdict of a plan, and makes one without obstacles if the plan has
// none.
func For(p *preview.Plan) *preview.Verdict {
	if p.Verdict != nil {
		return p.Verdict
	}
	return Of(p, nil)
}

// Renew makes the verdict of a plan again after a policy has changed its findings.
// Obstacles, mitigations and what was counted stay.
func Renew(p *preview.Plan) {
	before := p.Verdict
	if before == nil {
		before = &preview.Verdict{}
	}
	p.Verdict = Of(p, before.Obstacles)
	p.Verdict.Mitigations = append(p.Verdict.Mitigations, before.Mitigations...)
	keepCounts(p.Verdict, before)
}

// changes collects the lines about what a plan changes.
type changes struct {
	plan   *preview.Plan
	list   []preview.Highlight
	others int
}

func (c *changes) collect() {
	c.list = []preview.Highlight{}
	c.versions()
	fields := fieldsOf(c.plan)
	c.others = fields.others
	c.add(preview.TopicImage, fields.images.list()...)
	c.list = append(c.list, permissions(c.plan)...)
	c.add(preview.TopicCRD, breakages(c.plan)...)
	c.list = append(c.list, bounded(slices.Concat(fields.fields, fields.related.environments()))...)
	c.add(preview.TopicObjects, fields.replaced...)
	c.objects()
	c.add(preview.TopicRecord, recorded(c.plan)...)
	c.list = append(c.list, kept(c.plan, nil)...)
}

// recorded returns the changes of the record alone, but for versions, which have their
// own lines.
func recorded(p *preview.Plan) []string {
	var texts []string
	for _, change := range p.RecordChanges {
		if change.What != preview.RecordVersion {
			texts = append(texts, change.Text())
		}
	}
	return texts
}

// add adds a line for each change of the whole release.
func (c *changes) add(topic string, changes ...string) {
	var list []preview.Highlight
	for _, what := range changes {
		list = append(list, preview.Highlight{Topic: topic, What: what})
	}
	c.list = append(c.list, bounded(list)...)
}

// versions adds a line for each package whose version changes.
func (c *changes) versions() {
	for _, change := range versionChanges(c.plan) {
		c.add(preview.TopicVersion, change)
	}
}

// OlderVersions returns the version of each package that is installed, or that the plan
// is compared with, by the package's name.
func OlderVersions(p *preview.Plan) map[string]string {
	if p.Against != nil {
		return map[string]string{p.Against.Package: p.Against.Version}
	}
	before := map[string]string{}
	for _, installed := range p.Base.Packages {
		before[installed.Name] = installed.Version
	}
	return before
}

// versionChanges returns "NAME OLD -> NEW" for each package whose version changes, and
// "adds NAME VERSION" for new ones.
func versionChanges(p *preview.Plan) []string {
	before := OlderVersions(p)
	var out []string
	for i := range p.Packages {
		pkg := &p.Packages[i]
		old, known := before[pkg.Name]
		delete(before, pkg.Name)
		switch {
		case known && old != pkg.Version:
			out = append(out, fmt.Sprintf("%s %s -> %s", pkg.Name, orUnknown(old), orUnknown(pkg.Version)))
		case !known && p.Against == nil && len(p.Base.Packages) > 0:
			out = append(out, strings.TrimSpace("adds "+pkg.Name+" "+pkg.Version))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if p.Against == nil {
			out = append(out, strings.TrimSpace("removes "+name+" "+before[name]))
		}
	}
	return out
}

func orUnknown(version string) string {
	if version == "" {
		return "(no version)"
	}
	return version
}

// maxHighlights is the most lines of one topic; the others are counted.
const maxHighlights = 12

// bounded returns the first maxHighlights of highlights of one topic, each once and with
// its text, and the number of the others.
func bounded(list []preview.Highlight) []preview.Highlight {
	var first []preview.Highlight
	for _, h := range list {
		if h.Text = words.Highlight(h); !slices.Contains(first, h) {
			first = append(first, h)
		}
	}
	if len(first) <= maxHighlights {
		return first
	}
	rest := preview.Highlight{Topic: list[0].Topic, What: fmt.Sprintf("and %d more", len(first)-maxHighlights)}
	rest.Text = words.Highlight(rest)
	return append(first[:maxHighlights:maxHighlights], rest)
}

// objects adds a line for each action with the number of its objects by kind. Roles and
// bindings that only have another name than before are no creations and deletions.
func (c *changes) objects() {
	pairs := renamed.Pairs(c.plan)
	replaced := map[*preview.Object]bool{}
	for _, before := range pairs {
		replaced[before] = true
	}
	counts := map[string]map[string]int{}
	for i := range c.plan.Objects {
		o := &c.plan.Objects[i]
		done := string(o.Action)
		switch {
		case o.Untouched(), o.Action == preview.ActionSkip, replaced[o]:
			continue
		case pairs[o.ID] != nil:
			done = renamedWord
		}
		if counts[done] == nil {
			counts[done] = map[string]int{}
		}
		counts[done][o.Kind]++
	}
	for _, action := range preview.Actions() {
		c.count(string(action), counts[string(action)])
	}
	c.count(renamedWord, counts[renamedWord])
}

// renamedWord is what is done with an object that another one takes the place of.
const renamedWord = "renamed"

// count adds a line about what is done with a number of objects of each kind.
func (c *changes) count(done string, counts map[string]int) {
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		kinds = append(kinds, fmt.Sprintf("%d %s", counts[kind], kind))
	}
	if len(kinds) > 0 {
		c.add(preview.TopicObjects, done+": "+strings.Join(kinds, ", "))
	}
}
