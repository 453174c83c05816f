package tabs

import (
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/review"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// Rows of the files tab that are no file.
const (
	configID       = "config"
	platformPrefix = "platform/"
	filePrefix     = "file/" // as findings name files
)

// filesTab shows the files of a plugin set.
type filesTab struct{ *View }

func (m *filesTab) Count() int { return len(m.Plan.Files) }

// Rows lists the changed settings of the host, the files (those that change
// first), and the set's content for other platforms.
func (m *filesTab) Rows() []Row {
	rows := []Row{textRow(append(widget.Line{widget.Text(theme.Strong, preview.Plural(len(m.Plan.Files), "file"))}, FileCounts(m.Plan.Files, true)...))}
	if n := len(m.Plan.ConfigChanges); n > 0 {
		line := widget.Line{widget.Cell(theme.Change, "~", 4), widget.Text(theme.Plain, "config"), widget.Text(theme.Change, "  "+preview.Plural(n, "setting"))}
		rows = append(rows, Row{ID: configID, Text: "config", Copy: "config", Line: func(int) widget.Line { return line },
			Explain: "the host's settings, compared with those of the installed generation"})
	}
	for _, stay := range []bool{false, true} {
		for i := range m.Plan.Files {
			if f := &m.Plan.Files[i]; (f.Action == preview.ActionUnchanged) == stay {
				rows = append(rows, m.fileRow(f))
			}
		}
	}
	for i := range m.Plan.Platforms {
		other := &m.Plan.Platforms[i]
		if other.Platform == m.Plan.Platform {
			continue
		}
		line := widget.Line{widget.Cell(theme.Plain, "", 4), widget.Text(theme.Plain, other.Platform), widget.Text(theme.Plain, "  "+preview.Plural(len(other.Files), "file"))}
		rows = append(rows, Row{ID: platformPrefix + other.Platform, Text: other.Platform, Copy: other.ContentDigest,
			Line:    func(int) widget.Line { return line },
			Explain: "approved with this plan, and installed where a machine of this platform is"})
	}
	return rows
}

// fileRow returns a row for a file: its action, the most severe finding about
// it, its mode and name.
func (m *View) fileRow(f *preview.File) Row {
	line := func(width int) widget.Line {
		sign, role := "", theme.Plain
		if at := m.index.worstItem(filePrefix + f.Path); at >= 0 {
			sign, role = frame.SeveritySign(m.Checklist.Items[at].Severity(), m.Checklist.IsReviewed(at))
		}
		l := widget.Line{widget.Cell(frame.ActionRole(f.Action), f.Action.Symbol(), 4), widget.Cell(role, sign, 3)}
		mode := f.Mode
		if f.Action == preview.ActionDelete {
			mode = f.Live.Mode
		}
		var tail widget.Line
		if n := len(f.Changes); n > 0 && f.Action == preview.ActionUpdate {
			tail = widget.Line{widget.Text(theme.Change, "  "+preview.Plural(n, "change"))}
		}
		if width >= wideRow {
			l = append(l, widget.Cell(theme.Plain, mode, 6))
		}
		return append(append(l, widget.Tail(theme.Plain, f.Path, max(8, width-l.Width()-tail.Width()-1))), tail...)
	}
	return Row{ID: filePrefix + f.Path, Text: string(f.Action) + " " + f.Path + " " + f.Contents, Copy: f.Path, Line: line, Explain: review.FileText(f), Inside: func() string { return changedText(f.Changes) }}
}

// changedText returns the old and new text of changes, for the search.
func changedText(changes []preview.Change) string {
	var out strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&out, "%s\n%v\n%v\n", c.Path, c.From, c.To)
	}
	return out.String()
}

// FileCounts returns the number of files for each action; roomy adds the
// actions' names.
func FileCounts(files []preview.File, roomy bool) widget.Line {
	var s preview.Summary
	for _, f := range files {
		s.Add(f.Action)
	}
	if len(files) == 0 {
		return nil
	}
	return ActionCounts(s, roomy)
}

// Doc returns the detail of a row: a file, the settings of the host, or another
// platform.
func (m *filesTab) Doc(id string, width int) Document {
	b := &frame.Builder{Width: width}
	if id == configID {
		b.Add(widget.Line{widget.Text(theme.Strong, " config")})
		b.Text(theme.Plain, " ", "settings of the host that differ from the installed generation")
		b.Heading("What changes")
		changeLines(b, m.Plan.ConfigChanges, 0)
		return Document{Lines: b.Lines}
	}
	if platform, ok := strings.CutPrefix(id, platformPrefix); ok {
		return m.platformDoc(b, platform)
	}
	path, _ := strings.CutPrefix(id, filePrefix)
	for i := range m.Plan.Files {
		if f := &m.Plan.Files[i]; f.Path == path {
			return m.oneFile(b, f)
		}
	}
	return Document{}
}

func (m *filesTab) oneFile(b *frame.Builder, f *preview.File) Document {
	b.Add(widget.Line{widget.Text(theme.Strong, " "+f.Path), widget.Text(frame.ActionRole(f.Action), "   "+f.Action.Symbol()+" "+string(f.Action))})
	b.Text(theme.Plain, " ", review.FileText(f))
	if len(f.Changes) > 0 {
		b.Heading("What changes")
		for _, c := range f.Changes {
			fileChange(b, c)
		}
	}
	m.findingsOf(b, filePrefix+f.Path)
	b.Heading("Identity")
	b.Pair("contents", f.Contents)
	b.Pair("mode", f.Mode)
	if f.Action != preview.ActionDelete {
		b.Pair("size", fmt.Sprintf("%d bytes", f.Size))
	}
	b.Pair("sha256", f.SHA256)
	b.Pair("from", f.Origin)
	b.Pair("live mode", f.Live.Mode)
	b.Pair("live sha256", f.Live.SHA256)
	return Document{Lines: b.Lines}
}

// fileChange appends one change in a file: a text line by line, a setting with
// its two values.
func fileChange(b *frame.Builder, c preview.Change) {
	from, fromText := c.From.(string)
	to, toText := c.To.(string)
	if !fromText && c.From != nil || !toText && c.To != nil || !strings.Contains(from+to, "\n") {
		changeLines(b, []preview.Change{c}, 0)
		return
	}
	b.Text(theme.Plain, "   ", c.Path)
	for _, hunk := range diff.Hunks(from, to, 3) {
		for _, l := range hunk.Lines {
			role := theme.Plain
			switch l.Op {
			case diff.LineDelete:
				role = theme.Removed
			case diff.LineInsert:
				role = theme.Added
			}
			b.Add(widget.Line{widget.Text(role, "   "+string(l.Op)+" "+l.Text)})
		}
	}
}

// platformDoc returns the detail of another platform: the files of the set there.
func (m *filesTab) platformDoc(b *frame.Builder, platform string) Document {
	for _, other := range m.Plan.Platforms {
		if other.Platform != platform {
			continue
		}
		b.Add(widget.Line{widget.Text(theme.Strong, " "+other.Platform)})
		b.Text(theme.Plain, " ", "approved with this plan, and installed where a machine of this platform is")
		b.Heading("Identity")
		b.Pair("content", other.ContentDigest)
		b.Heading(preview.Plural(len(other.Files), "file"))
		for _, f := range other.Files {
			b.Text(theme.Plain, "   ", f.Mode+"  "+f.Path)
			b.Pair("", f.SHA256)
			b.Pair("", f.Contents)
		}
	}
	return Document{Lines: b.Lines}
}

// FileOf returns the file that a row is about, nil if it is about none.
func (m *View) FileOf(r Row) *preview.File {
	path, ok := strings.CutPrefix(r.ID, filePrefix)
	if !ok {
		path, ok = strings.CutPrefix(r.Object, filePrefix)
	}
	if !ok {
		return nil
	}
	for i := range m.Plan.Files {
		if m.Plan.Files[i].Path == path {
			return &m.Plan.Files[i]
		}
	}
	return nil
}
