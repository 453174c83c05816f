package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
)

// What a page holds of manifests: a browser is to open it at 5,000 objects.
const (
	maxManifest  = 64 << 10 // bytes of one
	maxManifests = 12 << 20 // bytes of all
	manifestCut  = "… the rest is left out here, -o manifests has it\n"
)

// pageGrants returns every grant, those that change first, and a note with their
// counts.
func pageGrants(p *preview.Plan) ([]pageGrant, string) {
	grants := slices.Clone(p.Access.Grants)
	slices.SortStableFunc(grants, func(a, b preview.Grant) int {
		if same := preview.FalseFirst(a.Change == preview.GrantSame, b.Change == preview.GrantSame); same != 0 {
			return same
		}
		return strings.Compare(holder(a), holder(b))
	})
	var out []pageGrant
	for _, g := range grants {
		where := "cluster-wide"
		if g.Scope == preview.ScopeNamespace {
			where = g.Namespace
		}
		means := ""
		if m := p.Access.Wildcards.Expansion(g); m != nil {
			means = line(access.WildcardText(m))
		}
		change := g.Change
		if g.Held {
			change = held
		}
		out = append(out, pageGrant{
			Change: line(joinTexts(" ", changeSymbols[g.Change], change)), Means: means, Who: line(subjectText(g.Subject)), Where: line(where),
			Verbs: line(strings.Join(g.Verbs, " ")), On: line(targetText(g)), Via: line(strings.Join(g.Via, ", ")), Rules: lines(g.Rules),
		})
	}
	return out, joinTexts("; ", accessNote(grants), line(access.DiscoveryText(p.Access.Wildcards)))
}

func accessNote(grants []preview.Grant) string {
	n := map[string]int{}
	for _, g := range grants {
		if g.Held {
			n[held]++
			continue
		}
		n[g.Change]++
	}
	var parts []string
	for _, change := range changeOrder {
		if n[change] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[change], change))
		}
	}
	return strings.Join(parts, ", ")
}

func pageClouds(p *preview.Plan) []pageCloud {
	var out []pageCloud
	for _, c := range p.Cloud.Permissions {
		what := cloudWhat(c)
		if len(c.Conditions) > 0 {
			if data, err := json.Marshal(c.Conditions); err == nil {
				what += "  if " + string(data)
			}
		}
		out = append(out, pageCloud{line(joinTexts(" ", changeSymbols[c.Change], c.Change)), line(what), line(certain(c)), lines(c.Rules)})
	}
	for _, d := range p.Cloud.Declared {
		out = append(out, pageCloud{"? " + line(orDefault(d.Certainty, preview.CloudDeclared)), line(d.Provider) + "; permissions not declared", line(d.Origin), ""})
	}
	if looked := CloudLookedAt(p); looked != "" {
		out = append(out, pageCloud{"none found", line(looked), "", ""})
	}
	return out
}

func pageImages(p *preview.Plan) [][3]string {
	var out [][3]string
	platforms := risk.PinnedPlatforms(p)
	for _, image := range p.Images {
		kind := "! by tag"
		if image.Pinned {
			kind = "pinned"
		}
		text := line(image.Reference)
		if !image.Pinned && image.Digest != "" {
			text += "  at review " + line(image.Digest)
		}
		out = append(out, [3]string{kind, text, platformWords(platforms[image.Reference])})
	}
	return out
}

// pageObjects returns every object, in the order of [preview.Actions], and their
// counts.
func pageObjects(p *preview.Plan) ([]pageObject, string) {
	var out []pageObject
	room := maxManifests
	for _, action := range preview.Actions() {
		for i := range p.Objects {
			if o := &p.Objects[i]; o.Action == action {
				out = append(out, pageObjectOf(p, o, &room))
			}
		}
	}
	return out, countText(p)
}

func pageObjectOf(p *preview.Plan, o *preview.Object, room *int) pageObject {
	out := pageObject{
		Class: string(o.Action), Symbol: o.Action.Symbol(), Action: string(o.Action),
		Kind: line(o.Kind), Name: line(objectName(o)),
		Origin: line(joinTexts("  ", o.APIVersion, o.Origin.Place(), o.Digest)),
	}
	for _, text := range p.Contested(o) {
		out.Conflicts = append(out.Conflicts, line(text))
	}
	l := layout{width: 120}
	var changed []string
	for _, c := range o.Changes {
		changed = append(changed, changeLines(c, l)...)
	}
	if len(o.Changes) == 0 {
		changed = secretKeyLines(o.SecretKeys)
	}
	out.Changes = clipText(strings.Join(changed, "\n"), room)
	switch {
	case o.Planned == nil:
	case *room == 0:
		out.Manifest = manifestCut
	default:
		out.Manifest = clipText(textsafe.Block(diff.YAML(p.Sent(o))), room)
	}
	return out
}

// clipText shortens text to the bytes in room, at most [maxManifest], and reduces room
// by the bytes used.
func clipText(text string, room *int) string {
	most := min(maxManifest, *room)
	if len(text) > most {
		text = strings.ToValidUTF8(text[:max(most, 0)], "")
		if text != "" {
			text += "\n"
		}
		text += manifestCut
	}
	*room = max(0, *room-len(text))
	return text
}

// pageDiff returns the lines of [diffRows] for the page, with their CSS classes.
func pageDiff(p *preview.Plan) []pageLine {
	rows, more := diffRows(p)
	out := make([]pageLine, 0, len(rows)+1)
	for _, row := range rows {
		class := "same"
		switch {
		case strings.HasPrefix(row, "@@"):
			class = "object"
		case strings.HasPrefix(row, "+"):
			class = "add"
		case strings.HasPrefix(row, "-"):
			class = "del"
		}
		out = append(out, pageLine{class, row})
	}
	if more > 0 {
		out = append(out, pageLine{"same", "… " + preview.Plural(more, "more line") + ", see Objects below"})
	}
	return out
}

// pageAccounts returns for each ServiceAccount of the plan its name, how much power it
// has, and what runs as it.
func pageAccounts(p *preview.Plan) [][3]string {
	var out [][3]string
	for _, a := range p.Access.Accounts {
		out = append(out, [3]string{line(subjectText(a.Subject)), line(verdict.AmountText(a)), line(strings.Join(labels(a.Workloads), ", "))})
	}
	return out
}

// contents returns links to the sections that the page has.
func (p page) contents() []pageLink {
	var out []pageLink
	add := func(has bool, anchor, title string) {
		if has {
			out = append(out, pageLink{anchor, title})
		}
	}
	add(len(p.Obstacles) > 0, "obstacles", p.ObstacleTitle)
	add(len(p.Options) > 0, "options", "Options")
	add(len(p.Changes) > 0, "changes", "Changes")
	add(len(p.Less) > 0, "less", "Needs less")
	add(len(p.Accounts) > 0, "accounts", "Accounts")
	for _, g := range p.Groups {
		add(true, g.Anchor, g.Title)
	}
	add(true, "open-questions", "Not known")
	add(len(p.Missing) > 0, "missing", "You lack")
	add(len(p.Grants) > 0, "access", "Access")
	add(len(p.Cloud) > 0, "cloud", "Cloud")
	add(len(p.Images) > 0, "images", "Images")
	add(len(p.Files) > 0, "files", "Files")
	add(len(p.Objects) > 0, "objects", "Objects")
	add(true, "details", "Details")
	add(true, "apply", p.Install)
	return out
}
