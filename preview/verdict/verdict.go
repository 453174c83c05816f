// Package verdict says first what decides about a plan: one sentence, what keeps it
// from being applied, and what it changes of what is installed.
package verdict

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Of returns the verdict on a plan whose findings and grants are known. obstacles
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
		}
		v.Groups = append(v.Groups, entry)
	}
	v.Sentence = sentence(p, v)
	return v
}

// For returns the verdict of a plan, also of one that was not made by the engine.
func For(p *preview.Plan) *preview.Verdict {
	if p.Verdict != nil {
		return p.Verdict
	}
	return Of(p, nil)
}

// Renew brings the verdict of a plan up to its findings, which a policy has judged.
func Renew(p *preview.Plan) {
	before := p.Verdict
	if before == nil {
		before = &preview.Verdict{}
	}
	p.Verdict = Of(p, before.Obstacles)
	p.Verdict.Mitigations = append(p.Verdict.Mitigations, before.Mitigations...)
}

// changes collects what a plan changes.
type changes struct {
	plan   *preview.Plan
	list   []preview.Highlight
	others int
}

func (c *changes) collect() {
	c.list = []preview.Highlight{}
	c.versions()
	fields, images := c.fields()
	c.add(preview.TopicImage, images)
	c.permissions()
	c.definitions()
	c.add(preview.TopicField, fields)
	c.objects()
}

func (c *changes) add(topic string, texts []string) {
	for _, text := range texts {
		c.list = append(c.list, preview.Highlight{Topic: topic, Text: text})
	}
}

// versions compares the packages with those that are installed.
func (c *changes) versions() {
	for _, change := range versionChanges(c.plan) {
		c.add(preview.TopicVersion, []string{change})
	}
}

// OlderVersions returns the version of each package that is installed, or that the
// plan is compared with, by name.
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

// versionChanges returns "NAME OLD -> NEW" for each package whose version changes.
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

// watched are the ends of paths of fields that people who run clusters look at.
var watched = []string{
	".replicas", ".command", ".args", ".serviceAccountName", ".schedule", ".suspend", ".type", ".storage", ".storageClassName", ".failurePolicy",
	".hostNetwork", ".hostPID", ".privileged", ".runAsUser", ".nodeSelector", ".minReplicas", ".maxReplicas", ".strategy.type", ".cpu", ".memory",
	".port", ".nodePort", ".externalTrafficPolicy", ".clusterIP", ".maxUnavailable", ".minAvailable", ".priorityClassName",
}

// maxHighlights bounds the fields and images that are listed one by one.
const maxHighlights = 12

// fields returns the changed fields that are looked at, and those that are images;
// the others are counted.
func (c *changes) fields() (fields, images []string) {
	for i := range c.plan.Objects {
		o := &c.plan.Objects[i]
		for _, change := range o.Changes {
			text := fmt.Sprintf("%s %s: %s", o.Kind, o.Name, changeText(change))
			switch path := withoutIndex(change.Path); {
			case isDescription(o, change.Path):
				c.others++
			case strings.HasSuffix(path, ".image") && len(images) < maxHighlights:
				images = append(images, fmt.Sprintf("%s %s: %s", o.Kind, o.Name, imageChange(value(change.From), value(change.To))))
			case slices.ContainsFunc(watched, func(end string) bool { return strings.HasSuffix(path, end) }) && len(fields) < maxHighlights:
				fields = append(fields, text)
			default:
				c.others++
			}
		}
	}
	return fields, images
}

// imageChange names the repository once where only tag or digest changes.
func imageChange(from, to string) string {
	repository := func(reference string) string {
		at := strings.LastIndexAny(reference, "@:")
		if at < 0 || strings.Contains(reference[at:], "/") {
			return reference
		}
		name, _, _ := strings.Cut(reference[:at], "@")
		return name
	}
	if name := repository(from); name == repository(to) && name != from && name != to {
		return name + " " + strings.TrimLeft(from[len(name):], "@:") + " -> " + strings.TrimLeft(to[len(name):], "@:")
	}
	return from + " -> " + to
}

// isDescription reports whether a field is part of what a CRD says of its kind.
// What breaks objects there is a finding.
func isDescription(o *preview.Object, path string) bool {
	return o.Is(preview.KindCustomResourceDefinition) && strings.Contains(path, "openAPIV3Schema")
}

// withoutIndex cuts what selects an element of a list at the end of a path.
func withoutIndex(path string) string {
	if strings.HasSuffix(path, "]") {
		if at := strings.LastIndex(path, "["); at > 0 {
			return path[:at]
		}
	}
	return path
}

func changeText(change preview.Change) string {
	switch change.Op {
	case "add":
		return change.Path + " " + value(change.To) + " is new"
	case "remove":
		return change.Path + " " + value(change.From) + " is removed"
	}
	return change.Path + " " + value(change.From) + " -> " + value(change.To)
}

// maxValue bounds what is shown of one value, in bytes.
const maxValue = 120

func value(v any) string {
	text, isText := v.(string)
	switch {
	case v == nil:
		return "(none)"
	case !isText:
		text = fmt.Sprint(v)
	}
	if len(text) > maxValue {
		text = strings.ToValidUTF8(text[:maxValue], "") + "…"
	}
	return text
}

// permissions lists what accounts gain and lose.
func (c *changes) permissions() {
	var gained, lost []string
	for _, g := range c.plan.Access.Grants {
		switch g.Change {
		case preview.GrantNew, preview.GrantWidened:
			gained = append(gained, subject(g.Subject)+" gains "+right(g))
		case preview.GrantRemoved, preview.GrantNarrowed:
			lost = append(lost, subject(g.Subject)+" loses "+right(g))
		}
	}
	c.add(preview.TopicPermission, bounded(gained))
	c.add(preview.TopicPermission, bounded(lost))
}

// bounded returns the first texts, each once, and counts the others.
func bounded(texts []string) []string {
	slices.Sort(texts)
	texts = slices.Compact(texts)
	if len(texts) <= maxHighlights {
		return texts
	}
	return append(texts[:maxHighlights:maxHighlights], fmt.Sprintf("and %d more", len(texts)-maxHighlights))
}

func subject(s preview.Subject) string {
	if s.Namespace != "" {
		return s.Kind + " " + s.Namespace + "/" + s.Name
	}
	return s.Kind + " " + s.Name
}

// right describes a grant as kubectl would: verbs on resources, and where.
func right(g preview.Grant) string {
	text := all(g.Verbs, "all verbs") + " on " + all(slices.Concat(g.Resources, g.NonResourceURLs), "all resources")
	if groups := slices.DeleteFunc(slices.Clone(g.APIGroups), func(group string) bool { return group == "" }); len(groups) > 0 {
		text += " in " + all(groups, "all API groups")
	}
	if len(g.ResourceNames) > 0 {
		text += " named " + strings.Join(g.ResourceNames, ", ")
	}
	if g.Scope == preview.ScopeCluster {
		return text + ", cluster-wide"
	}
	return text + ", in namespace " + g.Namespace
}

// all lists words, or says what stands for the wildcard among them.
func all(words []string, wildcard string) string {
	if slices.Contains(words, "*") {
		return wildcard
	}
	return strings.Join(words, ", ")
}

// definitions lists what breaks objects of changed CRDs.
func (c *changes) definitions() {
	var texts []string
	for _, f := range c.plan.Findings {
		if strings.HasPrefix(f.Rule, "crd-") && f.Severity.Rank() <= preview.Warning.Rank() {
			texts = append(texts, f.Title)
		}
	}
	c.add(preview.TopicCRD, bounded(texts))
}

// objects counts by action and kind what comes, goes and changes.
func (c *changes) objects() {
	counts := map[preview.Action]map[string]int{}
	for i := range c.plan.Objects {
		o := &c.plan.Objects[i]
		if o.Untouched() || o.Action == preview.ActionSkip {
			continue
		}
		if counts[o.Action] == nil {
			counts[o.Action] = map[string]int{}
		}
		counts[o.Action][o.Kind]++
	}
	for _, action := range preview.Actions() {
		var kinds []string
		for _, kind := range slices.Sorted(maps.Keys(counts[action])) {
			kinds = append(kinds, fmt.Sprintf("%d %s", counts[action][kind], kind))
		}
		if len(kinds) > 0 {
			c.add(preview.TopicObjects, []string{string(action) + ": " + strings.Join(kinds, ", ")})
		}
	}
}
