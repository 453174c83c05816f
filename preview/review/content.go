package review

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// imageSection returns each image, whether it is pinned, and the platforms it runs on.
func imageSection(p *preview.Plan) Section {
	s := Section{ID: Images, Columns: []Column{
		{Name: "named"}, {Name: "image", Whole: true}, {Name: "at review", Use: Below, Mark: "at review"},
		{Name: "moved", Use: Below, Mark: "!"}, {Name: "platforms", Use: Below}, {Name: "used by", Use: Below, Mark: "used by"},
	}}
	platforms, moved := risk.PinnedPlatforms(p), movedTags(p)
	pinned := 0
	for _, image := range p.Images {
		row := Row{Mark: "!", Tone: Caution, Cells: []string{
			"by tag", image.Reference, image.Digest, strings.Join(moved[image.Reference], "; "), "", usedBy(image.UsedBy),
		}}
		if image.Pinned {
			row.Mark, row.Tone, row.Cells[0], row.Cells[2] = "", Plain, "by digest", ""
			pinned++
		}
		if len(platforms) > 0 {
			row.Cells[4] = platformText(platforms[image.Reference])
		}
		s.Title, s.Rows = "IMAGES", append(s.Rows, row)
	}
	s.Note = fmt.Sprintf("%s, %d pinned by digest", preview.Plural(len(p.Images), "image"), pinned)
	if len(platforms) == 0 {
		s.Note += ", " + platformText(nil)
	}
	return s
}

// maxUsers is the most objects that are named as users of an image (4).
const maxUsers = 4

// usedBy names the objects that use an image, and counts those after [maxUsers].
func usedBy(ids []string) string {
	names := labels(ids)
	if more := len(names) - maxUsers; more > 1 {
		names = append(names[:maxUsers:maxUsers], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// movedTags returns what is known of tags that were moved to other digests since the
// installed revision, by image.
func movedTags(p *preview.Plan) map[string][]string {
	out := map[string][]string{}
	for _, f := range p.Findings {
		if f.Rule != rules.ImageMoved.Name {
			continue
		}
		for _, piece := range f.Pieces {
			if piece.Item != nil {
				out[piece.Item.Name] = append(out[piece.Item.Name], words.PieceOf(piece))
			}
		}
	}
	return out
}

// platformText returns the platforms of an image as text, or that they were not read.
func platformText(list []string) string {
	if len(list) == 0 {
		return "platforms not read"
	}
	return "runs on " + strings.Join(list, ", ")
}

// maxSettings is the most settings of a plugin host that are listed (200).
const maxSettings = 200

// configSection returns the settings of a plugin host that the plan changes.
func configSection(p *preview.Plan) Section {
	n := len(p.ConfigChanges)
	if n == 0 {
		return Section{}
	}
	row := Row{Changes: p.ConfigChanges[:min(n, maxSettings)]}
	if n > maxSettings {
		row.Rest = preview.Plural(n-maxSettings, "setting") + " more, -o json has them"
	}
	return Section{ID: Config, Title: "CONFIG", Note: preview.Plural(n, "setting") + " changed", Rows: []Row{row}}
}

// fileSection returns the files of a plugin set.
func fileSection(p *preview.Plan) Section {
	if len(p.Files) == 0 {
		return Section{}
	}
	s := Section{ID: Files, Title: "FILES", Note: fileCounts(p.Files), Columns: []Column{{Name: "action"}, {Name: "file", Whole: true}}}
	for _, f := range p.Files {
		s.Rows = append(s.Rows, fileRow(f))
	}
	return s
}

func fileRow(f preview.File) Row {
	row := Row{Mark: f.Action.Symbol(), Changes: f.Changes}
	is := words.Joined("  ", f.Mode, f.Path, preview.Plural(int(f.Size), "byte"))
	more := []string{words.Prefixed("sha256:", f.SHA256), f.Contents, words.Prefixed("from ", f.Origin), replaced(f)}
	if f.Action == preview.ActionDelete {
		is, more = words.Joined("  ", f.Live.Mode, f.Path), []string{"sha256:" + f.Live.SHA256}
	}
	row.Cells = []string{string(f.Action), is}
	for _, text := range more {
		if text != "" {
			row.Lines = append(row.Lines, Line{Text: text, Whole: true})
		}
	}
	return row
}

// replaced returns mode and hash of the installed file that an update replaces, as far as
// they differ; empty for other actions.
func replaced(f preview.File) string {
	if f.Action != preview.ActionUpdate {
		return ""
	}
	text := "now"
	if f.Live.Mode != f.Mode {
		text += " mode " + f.Live.Mode
	}
	if f.Live.SHA256 != f.SHA256 {
		text += " sha256:" + f.Live.SHA256
	}
	return text
}

// platformSection returns the files of a plugin set for platforms other than the plan's own.
func platformSection(p *preview.Plan) Section {
	if len(p.Platforms) == 0 {
		return Section{}
	}
	s := Section{
		ID: Platforms, Title: "PLATFORMS", Note: preview.Plural(len(p.Platforms), "platform"),
		Columns: []Column{{Name: "platform", Use: Heading}, {Name: "file", Whole: true}},
	}
	for _, other := range p.Platforms {
		if other.Platform == p.Platform {
			s.Rows = append(s.Rows, Row{
				Cells: []string{other.Platform, "this plan's own, see FILES"},
				Lines: []Line{{Text: "content " + other.ContentDigest, Whole: true}},
			})
			continue
		}
		head := words.Joined("  ", other.Platform, preview.Plural(len(other.Files), "file"), "content "+other.ContentDigest)
		for _, f := range other.Files {
			s.Rows = append(s.Rows, Row{
				Cells: []string{head, words.Joined("  ", f.Mode, f.Path, preview.Plural(int(f.Size), "byte"), "sha256:"+f.SHA256)},
				Lines: []Line{{Text: words.Joined("  ", f.Contents, words.Prefixed("from ", f.Origin)), Whole: true}},
			})
		}
	}
	return s
}

// stepSection returns the steps of the apply, in order.
func stepSection(p *preview.Plan) Section {
	s := Section{ID: Steps, Columns: []Column{{Name: "step"}, {Name: "what"}}}
	for i, stage := range p.Stages {
		s.Title = "STEPS"
		what := preview.Plural(len(stage.Objects), "object") + ", times out after " + stage.Timeout
		s.Rows = append(s.Rows, Row{Cells: []string{strconv.Itoa(i+1) + " " + stage.ID, what}})
	}
	return s
}

// objectSection returns the objects by action: updated, adopted and deleted ones one by one
// with their changed fields; created, kept and skipped ones by kind; unchanged ones as a
// number.
func objectSection(p *preview.Plan) Section {
	if len(p.Objects) == 0 {
		return Section{}
	}
	s := Section{
		ID: Objects, Title: "OBJECTS", Note: countText(p),
		Columns: []Column{{Name: "action", Use: Heading}, {Name: "kind"}, {Name: "object"}},
	}
	for _, action := range preview.Actions() {
		var members []*preview.Object
		for i := range p.Objects {
			if p.Objects[i].Action == action {
				members = append(members, &p.Objects[i])
			}
		}
		if len(members) == 0 {
			continue
		}
		head := fmt.Sprintf("%-3s %s %d", action.Symbol(), action, len(members))
		switch action {
		case preview.ActionUnchanged:
			s.Rows = append(s.Rows, Row{Cells: []string{head}, Objects: len(members)})
		case preview.ActionCreate, preview.ActionShared, preview.ActionSkip, preview.ActionKeep:
			s.Rows = append(s.Rows, byKind(head, members)...)
			for _, o := range members {
				if len(o.Changes) > 0 { // of a create: by admission
					s.Rows = append(s.Rows, objectRow(p, head, o, 0))
				}
			}
		default:
			for _, o := range members {
				s.Rows = append(s.Rows, objectRow(p, head, o, 1))
			}
		}
	}
	return s
}

// byKind returns a row for each kind with the names of its objects.
func byKind(head string, objects []*preview.Object) []Row {
	names := map[string][]string{}
	for _, o := range objects {
		names[o.Kind] = append(names[o.Kind], objectName(o))
	}
	var out []Row
	for _, kind := range slices.Sorted(maps.Keys(names)) {
		slices.Sort(names[kind])
		out = append(out, Row{Cells: []string{head, kind}, Names: names[kind], Objects: len(names[kind])})
	}
	return out
}

// objectRow returns an object with what contests its fields, its adoption and what changes
// in it.
func objectRow(p *preview.Plan, head string, o *preview.Object, count int) Row {
	row := Row{Cells: []string{head, o.Kind, objectName(o)}, Objects: count}
	for _, text := range p.Contested(o) {
		row.Lines = append(row.Lines, Line{Mark: "!", Text: text})
	}
	for _, text := range o.Adoption.Lines() {
		row.Lines = append(row.Lines, Line{Text: text})
	}
	if len(o.Changes) == 0 {
		row.Lines = append(row.Lines, secretKeys(o.SecretKeys)...)
	}
	if o.Action == preview.ActionDelete {
		return row
	}
	row.Changes = o.Changes
	if o.Is(preview.KindCustomResourceDefinition) {
		row.Changes, row.Rest = schemaChanges(o.Changes)
	}
	return row
}

func objectName(o *preview.Object) string {
	if o.Namespace == "" {
		return o.Name
	}
	return o.Namespace + "/" + o.Name
}

// maxSchemaChanges is how many changed fields of a CRD are listed (40). Its versions
// change in hundreds, and what breaks stored objects is a finding.
const maxSchemaChanges = 40

// schemaChanges returns the changed fields of a CRD to list: without descriptions, what is
// taken away or changed first. rest counts the others.
func schemaChanges(all []preview.Change) (list []preview.Change, rest string) {
	descriptions := 0
	for _, c := range all {
		if strings.HasSuffix(c.Path, ".description") {
			descriptions++
		} else {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b preview.Change) int {
		return preview.FalseFirst(a.Op == diff.OpAdd, b.Op == diff.OpAdd)
	})
	list = list[:min(len(list), maxSchemaChanges)]
	var more []string
	if n := len(all) - len(list) - descriptions; n > 0 {
		more = append(more, preview.Plural(n, "more field"))
	}
	if descriptions > 0 {
		more = append(more, preview.Plural(descriptions, "description"))
	}
	if len(more) > 0 {
		rest = strings.Join(more, ", ") + ": the screen and -o json have all"
	}
	return list, rest
}

// secretKeys returns each key of a Secret that differs, for a plan without dry run, which
// has no changed fields.
func secretKeys(states map[string]string) []Line {
	var out []Line
	for key, state := range states {
		if state != "equal" {
			out = append(out, Line{Mark: "~", Text: "key " + key + ": " + state})
		}
	}
	slices.SortFunc(out, func(a, b Line) int { return strings.Compare(a.Text, b.Text) })
	return out
}
