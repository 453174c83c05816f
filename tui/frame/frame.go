package frame

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

// Frame draws what all screens have in common: header, tabs, separators and footer.
type Frame struct {
	Theme  theme.Theme
	Size   Layout
	Title  string // while there is no plan
	Plan   *preview.Plan
	Sealed time.Time // when the plan was made; zero: not known
	Now    time.Time
	State  string
	Stats  string // a few words for the smallest header
	Stale  string // what moved since the plan was made, empty when nothing did
	Blind  bool   // it is not watched whether something changes
	Tabs   string // the painted line of tabs, empty without
	Below  [2]int // lines that do not fit: of the only or left pane, of the right one
}

// Stack returns all lines of a screen: header, tabs, body and footer, with
// separators between them. tee is the sign where a divider of two panes begins,
// empty for one pane.
func (f Frame) Stack(body []string, tee, footer string) []string {
	lines := f.Header()
	if f.Tabs != "" {
		lines = append(lines, f.Tabs)
	}
	lines = append(lines, f.Rule(tee, f.Size.Left))
	lines = append(lines, body...)
	return append(lines, f.LowerRule(tee != ""), footer)
}

// Plain returns a line of text with the role Plain.
func Plain(text string) widget.Line { return widget.Line{widget.Text(theme.Plain, text)} }

// Header returns the lines above the first separator, without the tabs.
func (f Frame) Header() []string {
	w := f.Size.Width
	state := widget.Text(theme.Strong, f.State+" ")
	if f.Plan == nil {
		program := widget.Text(theme.Plain, " kubectl operator   ")
		if f.Size.Mode == ModeTiny {
			program = widget.Text(theme.Plain, " ")
		}
		lines := []string{widget.Spread(widget.Line{program, widget.Text(theme.Strong, f.Title)}, append(Plain(" "), state), w).Paint(f.Theme, w)}
		for len(lines) < f.Size.Header {
			lines = append(lines, widget.Blank().Paint(f.Theme, w))
		}
		return lines
	}
	what := widget.Text(theme.Strong, f.Plan.Release.Name+" "+Version(f.Plan))
	switch f.Size.Mode {
	case ModeDouble:
		left := widget.Line{
			widget.Text(theme.Plain, " kubectl operator   "+f.Plan.Request.Action+"  "),
			widget.Text(theme.Strong, f.Plan.Release.Name), widget.Text(theme.Plain, "  "+Version(f.Plan)+rollbackTarget(f.Plan)),
		}
		where := Clip(Cluster(f.Plan), 30) + "  ns " + Clip(f.Plan.Release.Namespace, 30)
		if f.Plan.OnMachine() {
			where = Clip(SetLocation(f.Plan), 50) + "  " + Clip(Cluster(f.Plan), 20)
		}
		right := widget.Line{widget.Text(theme.Plain, "  "+where+"  "), state}
		return []string{widget.Spread(left, right, w).Paint(f.Theme, w), f.origin().Paint(f.Theme, w)}
	case ModeSingle:
		left := widget.Line{widget.Text(theme.Plain, " "), what, widget.Text(theme.Plain, pinMark(f.Plan))}
		where := Clip(Cluster(f.Plan), 20) + "/" + Clip(f.Plan.Release.Namespace, 18)
		if f.Plan.OnMachine() {
			where = Clip(Cluster(f.Plan), 20)
		}
		right := widget.Line{widget.Text(theme.Plain, "  "+where+"  "), state}
		return []string{widget.Spread(left, right, w).Paint(f.Theme, w)}
	}
	return []string{
		widget.Spread(widget.Line{widget.Text(theme.Plain, " "), what}, Plain(" "+Clip(Cluster(f.Plan), 14)+" "), w).Paint(f.Theme, w),
		Plain(f.secondLine()).Paint(f.Theme, w),
	}
}

// secondLine returns the second line of the header of the smallest windows,
// with as much space between its parts as there is room for.
func (f Frame) secondLine() string {
	for _, gap := range []string{"   ", "  "} {
		if text := pinMark(f.Plan) + gap + f.State + gap + f.Stats; textsafe.Width(text) <= f.Size.Width {
			return text
		}
	}
	return pinMark(f.Plan) + " " + f.State + " " + f.Stats
}

// pinMark returns the shortened pin of the installed content, or, for a plan
// that installs nothing, its action.
func pinMark(p *preview.Plan) string {
	if len(p.Packages) == 0 {
		return " " + p.Request.Action
	}
	if p.OnMachine() {
		return " @" + ShortDigest(p.ContentDigest, 4)
	}
	return " @" + ShortDigest(ContentPin(p), 4)
}

// rollbackTarget names the revision that a plan restores, empty if it does not.
func rollbackTarget(p *preview.Plan) string {
	if p.Request.Action != preview.RequestRollback || p.Request.Revision == 0 {
		return ""
	}
	return fmt.Sprintf("  to revision %d", p.Request.Revision)
}

// origin returns the second line of the header: where the content came from, its pin,
// and the digest to approve.
func (f Frame) origin() widget.Line {
	w := f.Size.Width
	right := widget.Line{}
	switch {
	case f.Stale != "":
		right = widget.Line{widget.Text(theme.Plain, "  "), widget.Text(theme.Caution, Clip(f.Stale, w/2)), widget.Text(theme.Plain, " ")}
	case f.Blind:
		right = Plain("  planned " + ago(f.Now.Sub(f.Sealed)) + ", not watched ")
	case !f.Sealed.IsZero():
		right = Plain("  planned " + ago(f.Now.Sub(f.Sealed)) + " ")
	}
	if len(f.Plan.Packages) == 0 {
		removed := fmt.Sprintf(" removes revision %d   plan %s", f.Plan.Base.Revision, ShortDigest(f.Plan.Digest, 4))
		return widget.Spread(Plain(removed), right, w)
	}
	tail := "sha256:" + ShortDigest(ContentPin(f.Plan), 8) + "   plan " + ShortDigest(f.Plan.Digest, 4)
	if f.Plan.OnMachine() {
		text := fmt.Sprintf(" %s   content %s   plan %s", preview.Plural(len(f.Plan.Packages[0].Sources), "artifact"), ShortDigest(f.Plan.ContentDigest, 8), ShortDigest(f.Plan.Digest, 4))
		return widget.Spread(Plain(text), right, w)
	}
	word, ref := " bundle  ", ContentRef(f.Plan)
	if preview.InSections(f.Plan.Packages) {
		word = " content "
	}
	if ref != "" { // plans that were saved do not name a directory
		tail = "@" + tail
		ref = Clip(ref, w-right.Width()-textsafe.Width(tail)-len(word))
	}
	return widget.Spread(Plain(word+ref+tail), right, w)
}

// ago says how long ago something was, as exactly as a person asks.
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	}
	return fmt.Sprintf("%d h ago", int(d.Hours()))
}

// AgeLasts returns for how long the header says the same about a plan of an age.
func AgeLasts(age time.Duration) time.Duration {
	step := time.Minute
	if age >= time.Hour {
		step = time.Hour
	}
	return step - max(0, age)%step
}

// Rule returns a separator line, with the sign tee where a divider of panes meets it.
func (f Frame) Rule(tee string, at int) string {
	w := f.Size.Width
	if tee == "" || at <= 0 || at >= w {
		return f.Theme.Paint(theme.Rule, strings.Repeat("─", w))
	}
	return f.Theme.Paint(theme.Rule, strings.Repeat("─", at)+tee+strings.Repeat("─", w-at-1))
}

// LowerRule returns the separator above the footer, with the number of lines
// that each pane has below it; split says that there are two panes.
func (f Frame) LowerRule(split bool) string {
	w, at := f.Size.Width, f.Size.Left
	if !split || at <= 0 || at >= w {
		return f.moreLabel(w, f.Below[0])
	}
	return f.moreLabel(at, f.Below[0]) + f.Theme.Paint(theme.Rule, "┴") + f.moreLabel(w-at-1, f.Below[1])
}

// moreLabel returns a part of a separator, which says how many more lines a pane has.
func (f Frame) moreLabel(width, more int) string {
	const end = 2
	text := fmt.Sprintf(" … %d more ", more)
	before := width - textsafe.Width(text) - end
	if more <= 0 || before < 0 {
		return f.Theme.Paint(theme.Rule, strings.Repeat("─", width))
	}
	return f.Theme.Paint(theme.Rule, strings.Repeat("─", before)) + f.Theme.Paint(theme.Plain, text) + f.Theme.Paint(theme.Rule, strings.Repeat("─", end))
}

// Footer returns the last line: on the left as many keys as fit, on the right
// what is still missing for an approval.
func (f Frame) Footer(keys []key.Binding, right widget.Line) string {
	w := f.Size.Width
	gap := "   "
	if f.Size.Mode != ModeDouble {
		gap = "  "
	}
	room := w - right.Width() - len(gap)
	names := f.Size.Mode == ModeTiny && !fits(keys, room)
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
	return widget.Spread(line, append(right[:len(right):len(right)], Plain(" ")...), w).Paint(f.Theme, w)
}

// fits reports whether keys with their descriptions fit into room cells.
func fits(keys []key.Binding, room int) bool {
	for _, k := range keys {
		room -= textsafe.Width(k.Help().Key) + len(" ") + textsafe.Width(k.Help().Desc) + len("  ")
	}
	return room >= 0
}

// TooSmall returns what is shown in a window that is too small for any layout.
func (f Frame) TooSmall() string {
	return Plain(tooSmallText(f.Size.Width, f.Size.Height)).Paint(f.Theme, max(1, f.Size.Width))
}

// Version returns the version of the package that a plan installs or removes; with
// sections, the number of packages, as each has its own version.
func Version(p *preview.Plan) string {
	switch {
	case len(p.Packages) == 0:
		return ""
	case preview.InSections(p.Packages):
		return preview.Plural(len(p.Packages), "package")
	}
	return p.Packages[0].Version
}

// Cluster returns the name of the plan's target that users know best: context,
// server, or the platform of this machine.
func Cluster(p *preview.Plan) string {
	switch {
	case p.OnMachine():
		return p.Platform
	case p.LacksLiveState():
		return "no cluster"
	case p.Target.Context != "":
		return p.Target.Context
	case p.Target.Server != "":
		return strings.TrimPrefix(strings.TrimPrefix(p.Target.Server, "https://"), "http://")
	}
	return p.Target.Identity
}

// SetLocation returns the directory of a plugin set, empty for other plans.
func SetLocation(p *preview.Plan) string {
	if p.Location == nil {
		return ""
	}
	return p.Location.Path
}

// ContentRef returns the reference of the first package, without tag or digest;
// of a request with sections, their names.
func ContentRef(p *preview.Plan) string {
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

// ContentPin returns the digest of the first package's source, or with sections the
// digest of all content.
func ContentPin(p *preview.Plan) string {
	if len(p.Packages) > 0 && len(p.Packages[0].Sources) > 0 && p.Packages[0].Sources[0].Digest != "" && !preview.InSections(p.Packages) {
		return p.Packages[0].Sources[0].Digest
	}
	return p.ContentDigest
}

// ShortDigest returns the first n and the last few hexadecimal digits of a
// digest, for headers only: the digest that a user approves is shown in full.
func ShortDigest(digest string, n int) string {
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

// Clip makes a text harmless and cuts it to n cells.
func Clip(text string, n int) string { return textsafe.Clip(text, max(1, n)) }

func tooSmallText(width, height int) string {
	return fmt.Sprintf("window too small (%dx%d), need %dx%d - q quits, nothing applied", width, height, MinWidth, MinHeight)
}
