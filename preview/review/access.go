package review

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// held is the change of a grant that the cluster gives already and the plan does not touch.
const held = "given by the cluster already"

// changeOrder is the order in which changes of grants are counted.
var changeOrder = []string{
	preview.GrantNew, preview.GrantWidened, preview.GrantNarrowed, preview.GrantRemoved, preview.GrantSame, held,
}

// changeMark returns the symbol for how a plan changes a grant.
func changeMark(change string) string {
	switch change {
	case preview.GrantNew:
		return "+"
	case preview.GrantRemoved:
		return "-"
	case preview.GrantSame:
		return "="
	}
	return "~"
}

// countChanges counts grants by how they change: "2 new, 1 widened, 10 same".
func countChanges(changes []string) string {
	var parts []string
	for _, change := range changeOrder {
		n := 0
		for _, c := range changes {
			if c == change {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, change))
		}
	}
	return strings.Join(parts, ", ")
}

// GrantColumns are the columns of a grant, in every form.
func GrantColumns() []Column {
	return []Column{
		{Name: "who", Use: Heading}, {Name: "where", Use: Heading}, {Name: "through", Use: Heading, Mark: "through"},
		{Name: "change"}, {Name: "may"}, {Name: "on"}, {Name: "means", Use: Below, Mark: "*"}, {Name: "rules", Use: Below, Mark: "!"},
	}
}

// GrantRow returns a grant as a row of [GrantColumns].
func GrantRow(p *preview.Plan, g preview.Grant) Row {
	row, means, change := Row{Mark: changeMark(g.Change)}, "", g.Change
	if g.Held {
		change = held
	}
	if g.Change == preview.GrantSame {
		row.Tone = Quiet
	}
	if m := p.Access.Wildcards.Expansion(g); m != nil {
		means = words.WildcardText(m)
	}
	row.Cells = []string{
		words.Subject(g.Subject), words.Extent(g.Scope, g.Namespace), strings.Join(g.Via, " and "),
		change, strings.Join(g.Verbs, " "), words.Target(g), means, strings.Join(g.Rules, ", "),
	}
	return row
}

// accessSection returns every grant, those that change first.
func accessSection(p *preview.Plan) Section {
	if len(p.Access.Grants) == 0 {
		return Section{}
	}
	s := Section{ID: Access, Title: "ACCESS", Columns: GrantColumns()}
	var changes []string
	for _, g := range p.Access.Grants {
		row := GrantRow(p, g)
		s.Rows, changes = append(s.Rows, row), append(changes, row.Cells[3])
	}
	slices.SortStableFunc(s.Rows, func(a, b Row) int {
		return cmp.Or(preview.FalseFirst(a.Tone == Quiet, b.Tone == Quiet), strings.Compare(a.Cells[0], b.Cells[0]), strings.Compare(a.Cells[1], b.Cells[1]), strings.Compare(a.Cells[2], b.Cells[2]))
	})
	s.Note = words.Joined(": ", preview.Plural(len(changes), "grant"), countChanges(changes))
	if text := words.DiscoveryText(p.Access.Wildcards); text != "" {
		s.Tail = []string{text}
	}
	return s
}

// accountSection returns each ServiceAccount of the plan, how much it may do, and what runs
// as it.
func accountSection(p *preview.Plan) Section {
	s := Section{ID: Accounts, Columns: []Column{{Name: "account"}, {Name: "amounts to"}, {Name: "runs"}}}
	for _, a := range p.Access.Accounts {
		s.Title = "ACCOUNTS"
		s.Rows = append(s.Rows, Row{Cells: []string{words.Subject(a.Subject), verdict.AmountText(a), strings.Join(labels(a.Workloads), ", ")}})
	}
	return s
}

// permissionSection returns the permissions that accounts gain and lose.
func permissionSection(p *preview.Plan) Section {
	s := Section{ID: Permissions, Columns: []Column{{Name: "account"}, {Name: "verbs"}, {Name: "on"}, {Name: "where"}}}
	gained := 0
	for _, is := range verdict.Permissions(p) {
		row := Row{Mark: "-", Cells: []string{is.Account, is.Verbs, is.Targets, is.Extent}}
		if is.Gained {
			row.Mark = "+"
			gained++
		}
		s.Rows = append(s.Rows, row)
	}
	if len(s.Rows) > 0 {
		s.Title, s.Note = "PERMISSIONS", fmt.Sprintf("%d gained, %d lost", gained, len(s.Rows)-gained)
	}
	return s
}

// MissingSection returns the rights that the user lacks to apply the plan.
func MissingSection(p *preview.Plan) Section {
	s := Section{ID: Missing, Columns: []Column{{Name: "right"}, {Name: "why"}}}
	for _, m := range p.Access.Installer.Missing {
		s.Title = "YOU LACK"
		s.Rows = append(s.Rows, Row{Mark: "x", Tone: Caution, Cells: []string{words.Joined(" ", m.Verb, m.Resource), m.Why}})
	}
	s.Note = preview.Plural(len(s.Rows), "right") + " to carry this out"
	return s
}

// CloudSection returns the access to clouds that the plan asks for, or that none was found
// and where it was looked for.
func CloudSection(p *preview.Plan) Section {
	s := Section{ID: Cloud, Title: "CLOUD", Columns: []Column{
		{Name: "change"}, {Name: "permission"}, {Name: "if", Use: Below, Mark: "if"}, {Name: "origin", Use: Below}, {Name: "rules", Use: Below, Mark: "!"},
	}}
	if p.ReleaseOptions != nil {
		for i, policy := range p.ReleaseOptions.CloudPolicies {
			place := ""
			if i < len(p.Request.CloudPolicies) {
				place = p.Request.CloudPolicies[i]
			}
			s.Rows = append(s.Rows, Row{Cells: []string{"attached", words.Joined("  ", place, policy.SHA256), "", "", ""}})
		}
	}
	var changes []string
	for _, c := range p.Cloud.Permissions {
		row := Row{Mark: changeMark(c.Change), Cells: []string{c.Change, words.CloudPermission(c), "", words.CloudOrigin(c.Certainty, c.Origin), strings.Join(c.Rules, ", ")}}
		if c.Change == preview.GrantSame {
			row.Tone = Quiet
		}
		if len(c.Conditions) > 0 {
			if data, err := json.Marshal(c.Conditions); err == nil {
				row.Cells[2] = string(data)
			}
		}
		s.Rows, changes = append(s.Rows, row), append(changes, c.Change)
	}
	s.Note = countChanges(changes)
	for _, d := range p.Cloud.Declared {
		certainty := cmp.Or(d.Certainty, preview.CloudDeclared)
		s.Rows = append(s.Rows, Row{Mark: "?", Cells: []string{certainty, d.Provider + "; permissions not stated", "", words.CloudOrigin(certainty, d.Origin), ""}})
	}
	if n := len(p.Cloud.Declared); n > 0 {
		s.Note = words.Joined(", ", s.Note, fmt.Sprintf("%d without actions", n))
	}
	if looked := CloudLookedAt(p); looked != "" {
		s.Note, s.Lead = "none found", []string{looked}
	}
	if len(s.Rows)+len(s.Lead) == 0 {
		return Section{}
	}
	return s
}

// CloudTexts returns the access to clouds in one line each, or that none was found and where
// it was looked for.
func CloudTexts(p *preview.Plan) []string {
	s := CloudSection(p)
	out := s.Texts()
	for _, looked := range s.Lead {
		out = append(out, "none found. "+looked)
	}
	return out
}

// CloudLookedAt says what was searched for access to clouds in a plan that has none; empty
// for a plan that has some, and for one that applies no object.
func CloudLookedAt(p *preview.Plan) string {
	if len(p.Cloud.Permissions)+len(p.Cloud.Declared) > 0 || len(p.Objects) == 0 || p.Request.Action == preview.RequestUninstall {
		return ""
	}
	of := func(format string) bool {
		return slices.ContainsFunc(p.Packages, func(pkg preview.Package) bool { return pkg.Format == format })
	}
	documents := ""
	switch {
	case of("registry+v1"):
		documents = "; at the bundle's examples, description and documents for policies"
	case of("helm"):
		documents = "; at the chart's documents for policies"
	}
	return "Looked at " + preview.Plural(len(p.Objects), "object") + " for credential requests, IAM custom resources and rights to them, " +
		"identities of ServiceAccounts and pods, variables, token volumes, keys of Secrets, and texts of ConfigMaps and Secrets" + documents + ". What the publisher documents elsewhere is added with --cloud-policy."
}
