package tui

import (
	"fmt"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// frame draws what all screens have in common: header, separators, footer.
type frame struct {
	theme  theme.Theme
	size   layout
	title  string // while there is no plan
	plan   *preview.Plan
	sealed time.Time // zero: not known
	state  string
	stats  string // a few words for the smallest header
	stale  string // what moved since the plan was made, empty when nothing did
	blind  bool   // nobody looks whether something moves
	tabs   string // the painted line of tabs, empty without
	below  [2]int // lines that do not fit: of the only or left pane, of the right one
}

// stack puts header, tabs, body and footer between separators.
func (f frame) stack(body []string, tee, footer string) []string {
	lines := f.header()
	if f.tabs != "" {
		lines = append(lines, f.tabs)
	}
	lines = append(lines, f.rule(tee, f.size.left))
	lines = append(lines, body...)
	return append(lines, f.lowerRule(tee != ""), footer)
}

func plain(text string) widget.Line { return widget.Line{widget.Text(theme.Plain, text)} }

// header is the lines above the first separator, without tabs.
func (f frame) header() []string {
	w := f.size.width
	state := widget.Text(theme.Strong, f.state+" ")
	if f.plan == nil {
		program := widget.Text(theme.Plain, " kubectl operator   ")
		if f.size.mode == modeTiny {
			program = widget.Text(theme.Plain, " ")
		}
		lines := []string{widget.Spread(widget.Line{program, widget.Text(theme.Strong, f.title)}, append(plain(" "), state), w).Paint(f.theme, w)}
		for len(lines) < f.size.header {
			lines = append(lines, widget.Blank().Paint(f.theme, w))
		}
		return lines
	}
	what := widget.Text(theme.Strong, f.plan.Release.Name+" "+version(f.plan))
	switch f.size.mode {
	case modeDouble:
		left := widget.Line{
			widget.Text(theme.Plain, " kubectl operator   "+f.plan.Request.Action+"  "),
			widget.Text(theme.Strong, f.plan.Release.Name), widget.Text(theme.Plain, "  "+version(f.plan)+backTo(f.plan)),
		}
		where := clip(cluster(f.plan), 30) + "  ns " + clip(f.plan.Release.Namespace, 30)
		if f.plan.OnMachine() {
			where = clip(place(f.plan), 50) + "  " + clip(cluster(f.plan), 20)
		}
		right := widget.Line{widget.Text(theme.Plain, "  "+where+"  "), state}
		return []string{widget.Spread(left, right, w).Paint(f.theme, w), f.origin().Paint(f.theme, w)}
	case modeSingle:
		left := widget.Line{widget.Text(theme.Plain, " "), what, widget.Text(theme.Plain, pinMark(f.plan))}
		where := clip(cluster(f.plan), 20) + "/" + clip(f.plan.Release.Namespace, 18)
		if f.plan.OnMachine() {
			where = clip(cluster(f.plan), 20)
		}
		right := widget.Line{widget.Text(theme.Plain, "  "+where+"  "), state}
		return []string{widget.Spread(left, right, w).Paint(f.theme, w)}
	}
	return []string{
		widget.Spread(widget.Line{widget.Text(theme.Plain, " "), what}, plain(" "+clip(cluster(f.plan), 14)+" "), w).Paint(f.theme, w),
		plain(f.second()).Paint(f.theme, w),
	}
}

// second is the second line of the smallest header, its parts as far apart as
// there is room.
func (f frame) second() string {
	for _, gap := range []string{"   ", "  "} {
		if text := pinMark(f.plan) + gap + f.state + gap + f.stats; textsafe.Width(text) <= f.size.width {
			return text
		}
	}
	return pinMark(f.plan) + " " + f.state + " " + f.stats
}

// pinMark is the short pin of what is installed. A plan that installs nothing
// says what it does instead.
func pinMark(p *preview.Plan) string {
	if len(p.Packages) == 0 {
		return " " + p.Request.Action
	}
	if p.OnMachine() {
		return " @" + shortDigest(p.ContentDigest, 4)
	}
	return " @" + shortDigest(contentPin(p), 4)
}

// backTo says to which revision a plan goes back.
func backTo(p *preview.Plan) string {
	if p.Request.Action != preview.RequestRollback || p.Request.Revision == 0 {
		return ""
	}
	return fmt.Sprintf("  to revision %d", p.Request.Revision)
}

// origin is the header's second line: where the content came from, its pin,
// and the digest an approval is bound to.
func (f frame) origin() widget.Line {
	w := f.size.width
	right := widget.Line{}
	switch {
	case f.stale != "":
		right = widget.Line{widget.Text(theme.Plain, "  "), widget.Text(theme.Caution, clip(f.stale, w/2)), widget.Text(theme.Plain, " ")}
	case f.blind:
		right = plain("  sealed " + f.sealed.Format("15:04:05") + ", not watched ")
	case !f.sealed.IsZero():
		right = plain("  sealed " + f.sealed.Format("15:04:05") + " ")
	}
	if len(f.plan.Packages) == 0 {
		removed := fmt.Sprintf(" removes revision %d   plan %s", f.plan.Base.Revision, shortDigest(f.plan.Digest, 4))
		return widget.Spread(plain(removed), right, w)
	}
	tail := "sha256:" + shortDigest(contentPin(f.plan), 8) + "   plan " + shortDigest(f.plan.Digest, 4)
	if f.plan.OnMachine() {
		text := fmt.Sprintf(" %s   content %s   plan %s", preview.Plural(len(f.plan.Packages[0].Sources), "artifact"), shortDigest(f.plan.ContentDigest, 8), shortDigest(f.plan.Digest, 4))
		return widget.Spread(plain(text), right, w)
	}
	word, ref := " bundle  ", contentRef(f.plan)
	if preview.InSections(f.plan.Packages) {
		word = " content "
	}
	if ref != "" { // plans that were saved do not name a directory
		tail = "@" + tail
		ref = clip(ref, w-right.Width()-textsafe.Width(tail)-len(word))
	}
	return widget.Spread(plain(word+ref+tail), right, w)
}

// rule is a separator line, with a tee where a column divider meets it.
func (f frame) rule(tee string, at int) string {
	w := f.size.width
	if tee == "" || at <= 0 || at >= w {
		return f.theme.Paint(theme.Rule, strings.Repeat("─", w))
	}
	return f.theme.Paint(theme.Rule, strings.Repeat("─", at)+tee+strings.Repeat("─", w-at-1))
}

// lowerRule is the separator above the footer. It counts what each pane has
// below it.
func (f frame) lowerRule(split bool) string {
	w, at := f.size.width, f.size.left
	if !split || at <= 0 || at >= w {
		return f.counted(w, f.below[0])
	}
	return f.counted(at, f.below[0]) + f.theme.Paint(theme.Rule, "┴") + f.counted(w-at-1, f.below[1])
}

// counted is a piece of a separator that says how many lines are below it.
func (f frame) counted(width, more int) string {
	const end = 2
	text := fmt.Sprintf(" … %d more ", more)
	before := width - textsafe.Width(text) - end
	if more <= 0 || before < 0 {
		return f.theme.Paint(theme.Rule, strings.Repeat("─", width))
	}
	return f.theme.Paint(theme.Rule, strings.Repeat("─", before)) + f.theme.Paint(theme.Plain, text) + f.theme.Paint(theme.Rule, strings.Repeat("─", end))
}

// footer is the last line: keys, as many as fit, and on the right what stands
// between the person and the approval.
func (f frame) footer(keys []key.Binding, right widget.Line) string {
	w := f.size.width
	gap := "   "
	if f.size.mode != modeDouble {
		gap = "  "
	}
	room := w - right.Width() - len(gap)
	names := f.size.mode == modeTiny && !fits(keys, room)
	line, before := widget.Line{}, " "
	for _, k := range keys {
		h := k.Help()
		does := " " + h.Desc
		if names {
			does = ""
		}
		next := widget.Line{widget.Text(theme.Plain, before), widget.Text(theme.Key, h.Key), widget.Text(theme.Plain, does)}
		if line.Width()+next.Width() > room {
			break
		}
		line, before = append(line, next...), gap
	}
	return widget.Spread(line, append(right[:len(right):len(right)], plain(" ")...), w).Paint(f.theme, w)
}

// fits reports whether keys and what they do fit a few cells.
func fits(keys []key.Binding, room int) bool {
	for _, k := range keys {
		room -= textsafe.Width(k.Help().Key) + len(" ") + textsafe.Width(k.Help().Desc) + len("  ")
	}
	return room >= 0
}

// tooSmall is all that fits a window below the smallest layout.
func (f frame) tooSmall() string {
	return plain(tooSmallText(f.size.width, f.size.height)).Paint(f.theme, max(1, f.size.width))
}

// version is the version under review, or of what is being removed. Sections have
// one each: they are counted.
func version(p *preview.Plan) string {
	switch {
	case len(p.Packages) == 0:
		return ""
	case preview.InSections(p.Packages):
		return preview.Plural(len(p.Packages), "package")
	}
	return p.Packages[0].Version
}

// cluster is the shortest name of the target that a person would know.
func cluster(p *preview.Plan) string {
	switch {
	case p.OnMachine():
		return p.Platform
	case p.ReadMode == preview.ReadOffline:
		return "no cluster"
	case p.Target.Context != "":
		return p.Target.Context
	case p.Target.Server != "":
		return strings.TrimPrefix(strings.TrimPrefix(p.Target.Server, "https://"), "http://")
	}
	return p.Target.Identity
}

// place is where a plugin set goes.
func place(p *preview.Plan) string {
	if p.Location == nil {
		return ""
	}
	return p.Location.Path
}

// contentRef is where the first package came from, without tag or digest; of
// sections it is what they are called.
func contentRef(p *preview.Plan) string {
	if len(p.Packages) == 0 || len(p.Packages[0].Sources) == 0 || preview.InSections(p.Packages) {
		return p.Request.Reference
	}
	ref, _, _ := strings.Cut(p.Packages[0].Sources[0].Reference, "@")
	slash, colon := strings.LastIndex(ref, "/"), strings.LastIndex(ref, ":")
	if colon > slash && colon > 0 && p.Packages[0].Sources[0].Kind == "image" {
		ref = ref[:colon]
	}
	return ref
}

// contentPin is the digest of the first package's source, or that of all content.
func contentPin(p *preview.Plan) string {
	if len(p.Packages) > 0 && len(p.Packages[0].Sources) > 0 && p.Packages[0].Sources[0].Digest != "" && !preview.InSections(p.Packages) {
		return p.Packages[0].Sources[0].Digest
	}
	return p.ContentDigest
}

// shortDigest is the first n and the last few hexadecimal digits of a digest,
// for headers only; what a person approves is shown in full.
func shortDigest(digest string, n int) string {
	hex := digest
	if _, after, ok := strings.Cut(digest, ":"); ok {
		hex = after
	}
	tail := max(4, n-2)
	if len(hex) <= n+tail {
		return textsafe.Line(hex)
	}
	return textsafe.Line(hex[:n]) + "…" + textsafe.Line(hex[len(hex)-tail:])
}

// clip makes text harmless and cuts it to n cells.
func clip(text string, n int) string { return textsafe.Truncate(textsafe.Line(text), max(1, n)) }

func tooSmallText(width, height int) string {
	return fmt.Sprintf("window too small (%dx%d), need %dx%d - q quits, nothing applied", width, height, minWidth, minHeight)
}
