package pick

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// pickDetail is the detail of the package under the cursor: facts, then the
// channels and versions that can be chosen.
type pickDetail struct {
	at    int // position of the hit, -1 for none
	pkg   *catalog.Package
	err   error
	read  bool // pkg or err is there
	width int  // that the rows were made for
	rows  []pickRow
	list  widget.List
	walk  bool // the cursor goes through all lines: the facts fill the window
}

// pickRow is one line of a package's detail.
type pickRow struct {
	offer *offer // what choosing it means; nil for what cannot be chosen
	line  widget.Line
}

// offer is a channel and a version to choose. Both are empty for the choice
// that install makes by itself.
type offer struct{ channel, version string }

func (d *pickDetail) selectable(i int) bool { return d.walk || d.rows[i].offer != nil }

func firstOffer(rows []pickRow) int {
	return slices.IndexFunc(rows, func(r pickRow) bool { return r.offer != nil })
}

// offerRows returns the rows of the selected package's detail.
func (m *pickScreen) offerRows(width int) []pickRow {
	if m.detail.at < 0 {
		return nil
	}
	hit := m.hits[m.detail.at]
	b := &frame.Builder{Width: width}
	m.hitFacts(b, hit)
	rows := make([]pickRow, 0, len(b.Lines)+8)
	for _, line := range b.Lines {
		rows = append(rows, pickRow{line: line})
	}
	if hit.Problem == "" {
		rows = append(rows, pickRow{}, headingRow("What install chooses by itself"), pickRow{offer: &offer{}, line: m.defaultLine(hit)})
	}
	switch {
	case !m.detail.read:
		return append(rows, pickRow{}, pickRow{line: frame.Plain(" reading its versions …")})
	case m.detail.err != nil:
		for _, line := range widget.Wrap(theme.Fail, "x its versions cannot be read: "+m.detail.err.Error(), width-1, " ") {
			rows = append(rows, pickRow{line: line})
		}
		return rows
	}
	return append(rows, channelRows(m.detail.pkg)...)
}

func headingRow(text string) pickRow {
	return pickRow{line: widget.Line{widget.Text(theme.Heading, " "+text)}}
}

// hitFacts appends what the package is, whether it is deprecated or cannot be
// installed, and its catalog.
func (m *pickScreen) hitFacts(b *frame.Builder, hit catalog.Hit) {
	b.Add(widget.Line{widget.Text(theme.Strong, " "+hit.Package)})
	if hit.Deprecated != "" {
		b.Text(theme.Caution, " ", "! deprecated: "+hit.Deprecated)
	}
	if hit.Problem != "" {
		b.Text(theme.Fail, " ", "x cannot be installed: "+hit.Problem)
	}
	if hit.Description != "" {
		b.Text(theme.Plain, " ", hit.Description)
	}
	b.Blank()
	b.Pair("catalog", fmt.Sprintf("%s  priority %d", hit.Catalog.Reference, hit.Catalog.Priority))
	b.Pair("  pin", hit.Catalog.Digest)
	for _, other := range m.at[hit.Package] {
		o := m.hits[other].Catalog
		if o.Reference == hit.Catalog.Reference {
			continue
		}
		b.Pair("also in", fmt.Sprintf("%s  priority %d", o.Reference, o.Priority))
	}
}

// defaultLine returns the version and channel that are installed if none is chosen.
func (m *pickScreen) defaultLine(hit catalog.Hit) widget.Line {
	if m.opts.Asked != "" {
		return frame.Plain("as asked for: " + m.opts.Asked)
	}
	return widget.Line{widget.Text(theme.Plain, hit.Version), widget.Text(theme.Plain, "  the newest of channel "+hit.DefaultChannel)}
}

// channelRows returns the channels, the default one first, each with its versions.
func channelRows(p *catalog.Package) []pickRow {
	order := make([]*catalog.Channel, 0, len(p.Channels))
	for i := range p.Channels {
		order = append(order, &p.Channels[i])
	}
	slices.SortStableFunc(order, func(a, b *catalog.Channel) int {
		switch p.DefaultChannel {
		case a.Name:
			return -1
		case b.Name:
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	var rows []pickRow
	for _, c := range order {
		title := "Channel " + c.Name
		if c.Name == p.DefaultChannel {
			title += " (the default)"
		}
		rows = append(rows, pickRow{}, headingRow(title))
		if c.Deprecated != "" {
			rows = append(rows, pickRow{line: widget.Line{widget.Text(theme.Caution, " ! deprecated: "+c.Deprecated)}})
		}
		for _, v := range p.Versions(c) {
			rows = append(rows, pickRow{offer: &offer{c.Name, v.Version.String()}, line: versionLine(c, v)})
		}
	}
	return rows
}

// versionCells is the width of the column with a version, in cells.
const versionCells = 22

func versionLine(c *catalog.Channel, v *catalog.Bundle) widget.Line {
	line := widget.Line{widget.Cell(theme.Plain, v.Version.String(), versionCells)}
	if slices.Contains(c.Heads, v.Name) {
		line = append(line, widget.Text(theme.Plain, "  newest"))
	}
	if v.Deprecated != "" {
		line = append(line, widget.Text(theme.Caution, "  ! deprecated: "+v.Deprecated))
	}
	return line
}
