package home

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// row is one line of the list.
type row struct {
	id      string // empty for what cannot be selected
	release int    // that it is, or belongs to
	command []string
	asks    bool // for a reference
	line    widget.Line
	why     string // what follows the line, if it has room
}

func text(l widget.Line) row { return row{line: l} }

// makeRows makes the whole list.
func (m *screen) makeRows() []row {
	if m.size.Mode == frame.ModeNone {
		return nil
	}
	releases, below := m.releaseRows(), append([]row{{}, text(widget.Line{widget.Text(theme.Heading, " BEGIN")})}, m.ways()...)
	return append(m.withReasons(releases, m.size.Body-len(releases)-len(below)), below...)
}

// withReasons adds to releases why they are not well: behind the state, or in separate
// lines where that would be cut and as many lines of the screen are free.
func (m *screen) withReasons(rows []row, free int) []row {
	var out []row
	for _, r := range rows {
		if r.why == "" {
			out = append(out, r)
			continue
		}
		behind := append(slices.Clone(r.line), widget.Text(theme.Plain, "  "+r.why))
		below := m.paragraph(r.why)
		if cut := markCells+behind.Width() > m.size.Width; !cut || r.release == m.open || len(below) > free {
			r.line = behind
			out = append(out, r)
			continue
		}
		free -= len(below)
		out = append(append(out, r), below...)
	}
	return out
}

// paragraph is a text below a release, in full.
func (m *screen) paragraph(about string) []row {
	var rows []row
	for _, line := range widget.Wrap(theme.Plain, about, m.size.Width-8, "      ") {
		rows = append(rows, text(line))
	}
	return rows
}

// releaseRows are the releases, and the commands of the one that is open.
func (m *screen) releaseRows() []row {
	title := " RELEASES"
	if n := len(m.found.Releases); n > 0 {
		title += fmt.Sprintf("  (%d)", n)
	}
	rows := []row{text(widget.Line{widget.Text(theme.Heading, title)})}
	if m.loading {
		return append(rows, text(frame.Plain("   asking the cluster …")))
	}
	if m.found.Problem != "" {
		mark := " ! "
		for _, line := range widget.Wrap(theme.Caution, m.found.Problem, m.size.Width-markCells-1, "") {
			rows, mark = append(rows, text(append(widget.Line{widget.Text(theme.Caution, mark)}, line...))), "   "
		}
	}
	if len(m.found.Releases) == 0 && !m.withoutCluster() && m.found.Problem == "" {
		rows = append(rows, text(frame.Plain("   none in this cluster yet")))
	}
	columns := m.columns()
	for i := range m.found.Releases {
		rows = append(rows, row{id: "release/" + strconv.Itoa(i), release: i, line: m.releaseLine(i, columns), why: m.conditions[i].Why})
		if m.open == i {
			rows = append(rows, m.openRows(i)...)
		}
	}
	return rows
}

// columns are the widths of the columns of releases.
type columns struct{ name, namespace, version int }

// The cells that columns take at most, and that the state of a release has at least.
const (
	maxName    = 40
	maxVersion = 20
	minState   = 26
	releaseGap = 2
	markCells  = 3
)

// columns are as wide as what is in them, while the state of a release has room.
func (m *screen) columns() columns {
	var c columns
	for _, r := range m.found.Releases {
		c.name = max(c.name, min(maxName, textsafe.Width(textsafe.Line(r.Name))))
		c.namespace = max(c.namespace, min(maxName, textsafe.Width(textsafe.Line(r.Namespace))))
		c.version = max(c.version, min(maxVersion, textsafe.Width(textsafe.Line(r.Version))))
	}
	room := max(12, m.size.Width-markCells-minState-3*releaseGap-c.version)
	if m.size.Mode == frame.ModeTiny {
		room, c.version = m.size.Width-markCells-14, -releaseGap
	}
	if c.name+c.namespace > room {
		c.name = min(c.name, max(room/2, room-c.namespace))
		c.namespace = min(c.namespace, room-c.name)
	}
	return c
}

// releaseLine is a release, how it is, and what an upgrade would choose.
func (m *screen) releaseLine(at int, c columns) widget.Line {
	r := m.found.Releases[at]
	cell := func(of func(Release) string, width int) widget.Span {
		differs := widget.DifferencesAmong(len(m.found.Releases), at, func(i int) string { return of(m.found.Releases[i]) })
		return widget.Apart(theme.Plain, of(r), differs, width)
	}
	gap := widget.Text(theme.Plain, strings.Repeat(" ", releaseGap))
	line := widget.Line{cell(func(r Release) string { return r.Name }, c.name), gap, cell(func(r Release) string { return r.Namespace }, c.namespace), gap}
	if c.version > 0 {
		line = append(line, widget.Cell(theme.Plain, r.Version, c.version), gap)
	}
	is, known := m.conditions[at]
	if !known {
		return append(line, widget.Text(theme.Plain, "…"))
	}
	line = append(line, widget.Text(is.Role, is.Word))
	if is.Update != "" {
		line = append(line, widget.Text(theme.Change, "  "+is.Update+" available"))
	}
	return line
}

// openRows are what is known of a release in full, and its commands.
func (m *screen) openRows(at int) []row {
	r, is := m.found.Releases[at], m.conditions[at]
	var rows []row
	for _, about := range []string{r.About, is.Why} {
		if about != "" {
			rows = append(rows, m.paragraph(about)...)
		}
	}
	upgrade := "to the newest version of its catalog, or to REF"
	if is.Update != "" {
		upgrade = "to " + is.Update + ": review what it changes"
	}
	for _, c := range []struct{ name, does string }{
		{"upgrade", upgrade},
		{"status", "which objects are not ready, or not as applied"},
		{"history", "its revisions, and who approved them"},
		{"rollback", "review the way back to the revision before"},
		{"uninstall", "review what would be deleted"},
	} {
		command := []string{c.name, r.Name, "-n", r.Namespace}
		rows = append(rows, row{
			id: fmt.Sprintf("%s/%d", c.name, at), release: at, command: command,
			line: widget.Line{widget.Text(theme.Strong, fmt.Sprintf("   %-10s", c.name)), widget.Text(theme.Plain, "  "+c.does)},
		})
	}
	return rows
}

// ways are the three ways to begin.
func (m *screen) ways() []row {
	way := func(id, name, does string, command ...string) row {
		return row{id: id, release: -1, command: command, line: widget.Line{widget.Text(theme.Strong, fmt.Sprintf("%-20s", name)), widget.Text(theme.Plain, "  "+does)}}
	}
	choose := "from the catalogs of the cluster"
	if n := m.found.Catalogs; n > 0 {
		choose = "from " + preview.Plural(n, "catalog")
	}
	install := way("install", "Install a package", choose, "install")
	if m.withoutCluster() {
		install = way("", "   Install a package", "   in a cluster, which is missing here")
	}
	review := way("review", "Review something", "a directory, an image, a chart or a URL")
	review.asks = true
	return []row{
		install,
		review,
		way("sandbox", "Try it without risk", "a separate control plane on this machine", "sandbox", "up"),
	}
}

// commandText is the command line of a row, as it could be typed.
func (m *screen) commandText(command []string) string {
	if command == nil {
		return ""
	}
	return commandline.Operator(append(slices.Clone(command), m.opts.Flags...)...)
}
