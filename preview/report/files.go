package report

import (
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func fileSection(p *preview.Plan, l layout) section {
	if len(p.Files) == 0 {
		return section{}
	}
	s := section{title: "FILES", note: fileCounts(p.Files)}
	for _, f := range p.Files {
		s.lines = append(s.lines, fileLines(f, l)...)
	}
	return s
}

// configSection lists the settings of a plugin host that the plan changes.
func configSection(p *preview.Plan, l layout) section {
	if len(p.ConfigChanges) == 0 {
		return section{}
	}
	s := section{title: "CONFIG", note: preview.Plural(len(p.ConfigChanges), "setting") + " changed"}
	for _, c := range p.ConfigChanges[:min(len(p.ConfigChanges), maxSettings)] {
		s.lines = append(s.lines, changeLinesAt("  ", c, l)...)
	}
	if n := len(p.ConfigChanges) - maxSettings; n > 0 {
		s.lines = append(s.lines, fmt.Sprintf("  … %s more, -o json has them", preview.Plural(n, "setting")))
	}
	return s
}

const maxSettings = 200

// platformSection lists the files of a plugin set for platforms other than the plan's
// own.
func platformSection(p *preview.Plan) section {
	if len(p.Platforms) == 0 {
		return section{}
	}
	s := section{title: "PLATFORMS", note: preview.Plural(len(p.Platforms), "platform")}
	for _, other := range p.Platforms {
		what := preview.Plural(len(other.Files), "file")
		if other.Platform == p.Platform {
			what = "this plan's own, see FILES"
		}
		s.lines = append(s.lines, "  "+line(other.Platform)+"  "+what, "      content "+line(other.ContentDigest))
		for _, f := range other.Files {
			s.lines = append(s.lines, fmt.Sprintf("      %s  %s  %s  sha256:%s", line(f.Mode), line(f.Path), preview.Plural(int(f.Size), "byte"), line(f.SHA256)),
				"          "+line(joinTexts("  ", f.Contents, prefixLines("from ", f.Origin))))
		}
	}
	return s
}

// fileLines returns the lines about a file: the first has its name, the others are
// indented below it.
func fileLines(f preview.File, l layout) []string {
	const below = "                   "
	head := fmt.Sprintf("  %-3s %-9s  ", f.Action.Symbol(), f.Action)
	if f.Action == preview.ActionDelete {
		return []string{head + line(f.Live.Mode) + "  " + line(f.Path), below + "sha256:" + line(f.Live.SHA256)}
	}
	out := []string{fmt.Sprintf("%s%s  %s  %s", head, line(f.Mode), line(f.Path), preview.Plural(int(f.Size), "byte"))}
	for _, more := range []string{prefixLines("sha256:", f.SHA256), f.Contents, prefixLines("from ", f.Origin), replacedText(f)} {
		if more != "" {
			out = append(out, below+line(more))
		}
	}
	for _, c := range f.Changes {
		out = append(out, fileChangeLines(c, below, l)...)
	}
	return out
}

// fileChangeLines returns the lines about one change in a file: a diff for text, the
// old and new value for a setting.
func fileChangeLines(c preview.Change, below string, l layout) []string {
	from, fromText := c.From.(string)
	to, toText := c.To.(string)
	if !fromText && c.From != nil || !toText && c.To != nil || !strings.Contains(from+to, "\n") {
		return changeLinesAt(below, c, l)
	}
	return append([]string{below + line(c.Path) + ":"}, fold(textDiff(from, to, below+"  "), maxDiffLines, below+"  ")...)
}

// replacedText returns mode and hash of the installed file that an update replaces, as
// far as they differ; empty for other actions.
func replacedText(f preview.File) string {
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

// fileCounts returns the number of files, in all and for each action that occurs.
func fileCounts(files []preview.File) string {
	return preview.Plural(len(files), "file") + "   " + preview.FileCounts(files, "   ")
}
