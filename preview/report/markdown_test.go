package report

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/review"
	"github.com/kubectl-operator/kubectl-operator/preview/review/reviewtest"
)

// injections are texts that mean something in Markdown, in HTML, or to a
// review system, and that a bundle may put anywhere.
var injections = []string{
	reviewtest.Evil,
	"<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "</details></details>", "<!-- hidden", "-->", "<details open>", "<a href=javascript:alert(1)>x</a>",
	"[approve](https://evil.example)", "![x](https://evil.example/x.png)", "<https://evil.example>", "https://evil.example/a", "www.evil.example", "evil@evil.example", "[x]: https://evil.example",
	"`code`", "``` \n# out of the block", "~~~\nx", "````````````", "` | `", "a | b | c", "\\| x", "\\", "\\`",
	"# heading", "\n# heading", "- [ ] task", "1. one", "> quote", "---", "===", "    indented", "*b* _i_ ~~s~~", "[^1]", "$a$ $$b$$",
	"@everyone", "@org/team", "#12", "org/repo#12", "GH-12", ":smile:", "&lt;b&gt;", "&#60;b&#62;", "{{ .Values.x }}", "${{ secrets.TOKEN }}",
	"x\u202egnp.exe", "zero\u200bwidth", "\x1b]8;;https://evil.example\x07x\x1b]8;;\x07", "\x1b[2J", "a\rb", "\u2028", "\xff\xfe",
	strings.Repeat("<", 500), strings.Repeat("`", 500), strings.Repeat("[", 500), strings.Repeat("long ", 1000),
}

// A Markdown reader that knows code spans and blocks only: what it leaves must
// hold nothing that came from outside but escaped.
func TestMarkdownFromOutsideIsInert(t *testing.T) {
	for i, text := range injections {
		t.Run(fmt.Sprintf("%d %.20q", i, text), func(t *testing.T) {
			p := reviewtest.HostilePlan(text)
			p.Packages = append(p.Packages, preview.Package{
				Name: "second" + text, Version: text, Dependencies: []preview.Dependency{{Constraint: text, By: text, Detail: text}}, Isolation: text,
			})
			p.Objects = append(p.Objects, preview.Object{
				ID: "third", Kind: text, Package: "second" + text, Action: preview.ActionUpdate,
				Changes: []preview.Change{{Path: ".spec." + text, Op: "change", From: text, To: map[string]any{text: text}}},
			})
			if err := p.Seal(); err != nil && !strings.Contains(err.Error(), "UTF-8") {
				t.Fatal(err)
			}
			markdown := write(t, p, Options{Format: Markdown})
			if len(markdown) > MarkdownLimit {
				t.Errorf("%d bytes", len(markdown))
			}
			inert(t, markdown)
		})
	}
}

// ownTags are all the HTML that a report writes itself.
var ownTags = regexp.MustCompile(`</?(details|summary|code)>`)

func inert(t *testing.T, text string) {
	t.Helper()
	var open string
	details, columns := 0, 0
	for number, l := range strings.Split(text, "\n") {
		rest := strings.TrimLeft(l, "`")
		ticks := l[:len(l)-len(rest)]
		switch {
		case open != "" && rest == "" && len(ticks) >= len(open):
			open = ""
			continue
		case open != "":
			continue
		case len(ticks) >= 3 && !strings.Contains(rest, "`"):
			open = ticks
			continue
		}
		plain := outsideCode(l)
		details += strings.Count(plain, "<details>") - strings.Count(plain, "</details>")
		// Within the summary nothing but HTML counts, and code is not looked
		// into for mentions.
		if head, ok := strings.CutPrefix(l, "<details><summary>"); ok {
			head = strings.TrimSuffix(head, "</summary>")
			before, rest, _ := strings.Cut(head, "<code>")
			_, after, _ := strings.Cut(rest, "</code>")
			if strings.ContainsAny(ownTags.ReplaceAllString(head, ""), "<>") || strings.ContainsAny(before+after, "@#") {
				t.Errorf("line %d: markup in a summary: %.300s", number+1, l)
			}
			continue
		}
		plain = ownTags.ReplaceAllString(plain, "")
		for _, s := range []string{"<", "](", "]:", "@", "://", "www.", "**b**", "$$", "|x", "GH-1"} {
			if strings.Contains(plain, s) {
				t.Errorf("line %d: %q outside of code: %.300s", number+1, s, plain)
			}
		}
		switch bars := strings.Count(plain, "|"); {
		case !strings.HasPrefix(l, "|"):
			columns = 0
		case columns == 0:
			columns = bars // of the first row of a table, which is the program's own
		case bars != columns:
			t.Errorf("line %d: a row of %d bars in a table of %d: %.300s", number+1, bars, columns, l)
		}
		if strings.Contains(strings.TrimLeft(plain, "#"), "#") {
			t.Errorf("line %d: # outside of code: %.300s", number+1, plain)
		}
	}
	if open != "" {
		t.Errorf("a code block is not closed")
	}
	if details != 0 {
		t.Errorf("%d more details are opened than closed", details)
	}
}

// outsideCode drops code spans and escaped characters.
func outsideCode(l string) string {
	var out strings.Builder
	for l != "" {
		if strings.HasPrefix(l, `\`) && len(l) > 1 {
			out.WriteString(" ")
			l = l[2:]
			continue
		}
		run := len(l) - len(strings.TrimLeft(l, "`"))
		if run == 0 {
			out.WriteByte(l[0])
			l = l[1:]
			continue
		}
		end := closing(l[run:], run)
		if end < 0 {
			out.WriteString(l[:run])
			l = l[run:]
			continue
		}
		out.WriteString(" ")
		l = l[run+end+run:]
	}
	return out.String()
}

func closing(l string, ticks int) int {
	for i := 0; i < len(l); {
		run := len(l[i:]) - len(strings.TrimLeft(l[i:], "`"))
		if run == ticks {
			return i
		}
		i += max(run, 1)
	}
	return -1
}

func TestMarkdownStaysUnderItsLimit(t *testing.T) {
	for _, tt := range []struct {
		name     string
		findings int
		why      string
		changes  int
		cut      bool
	}{
		{"a small plan is whole", 3, "why", 3, false},
		{"many findings are cut", 5000, "why", 1, true},
		{"many changes are cut", 1, "why", 20_000, true},
		{"one endless finding is shortened", 1, strings.Repeat("why ", 50_000), 1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := reviewtest.Plans(t)["upgrade"]
			for i := range tt.findings {
				p.Findings = append(p.Findings, reviewtest.Finding(preview.Critical, "rule", fmt.Sprint("core/Pod/-/", i), "title", tt.why, "evidence"))
			}
			for i := range tt.changes {
				p.Objects[1].Changes = append(p.Objects[1].Changes, preview.Change{Path: fmt.Sprintf(".spec.a%d", i), Op: "add", To: "value"})
			}
			if err := p.Seal(); err != nil {
				t.Fatal(err)
			}
			text := write(t, p, Options{Format: Markdown})
			if len(text) > MarkdownLimit || !strings.HasSuffix(text, "\n") {
				t.Errorf("%d bytes", len(text))
			}
			if got := strings.Contains(text, "**This report is cut.**"); got != tt.cut {
				t.Errorf("says that it is cut: %v", got)
			}
			if !strings.Contains(text, p.Digest) || !strings.Contains(text, "--approve") {
				t.Error("the digest and the command are missing")
			}
			if !strings.Contains(text, "#### C1 title") {
				t.Error("the most important finding is missing")
			}
			if strings.Count(text, "<details>") != strings.Count(text, "</details>") || strings.Count(text, "\n```")%2 != 0 {
				t.Error("a block is not closed")
			}
		})
	}
}

func TestProse(t *testing.T) {
	for in, want := range map[string]string{
		"4 images by tag, not by digest (W2).": "4 images by tag, not by digest (W2).",
		"1. one":                               "1\\. one",
		"- item":                               "\\- item",
		"==":                                   "\\==",
		"a `b` *c* _d_ [e](f) <g> & h|i":       "a \\`b\\` \\*c\\* \\_d\\_ \\[e\\](f) &lt;g&gt; &amp; h\\|i",
		"@all see http://x and www.y.z":        "`@`all see http\\://x and www\\.y.z",
		"see #12 and GH-7, o/r#3":              "see `#`12 and GH`-`7, o/r`#`3",
		"two\nlines":                           "two␤lines",
	} {
		if got := prose(in); got != want {
			t.Errorf("prose(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestMarkdownSaysWhatIsCut(t *testing.T) {
	p := reviewtest.FreshInstall(t)
	for i := range 6000 {
		p.Objects = append(p.Objects, preview.Object{ID: fmt.Sprint("core/ConfigMap/ns/settings-", i), Kind: "ConfigMap", Namespace: "ns", Name: fmt.Sprint("settings-", i), Action: preview.ActionCreate})
	}
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
	text := write(t, p, Options{Format: Markdown})
	match := regexp.MustCompile(`(?m)^… (\d+) more objects, see .-o json.$`).FindStringSubmatch(text)
	if match == nil {
		t.Fatalf("the cut is not stated in\n%.3000s", text[len(text)-3000:])
	}
	missing := 0
	for i := range 6000 {
		if !strings.Contains(text, fmt.Sprint("settings-", i, " ")) && !strings.Contains(text, fmt.Sprint("settings-", i, "\n")) {
			missing++
		}
	}
	if match[1] != fmt.Sprint(missing+countMissing(text, "databases/operator", "mongodb-operator")) {
		t.Errorf("it says that %s objects are missing, and %d are", match[1], missing)
	}
	if !strings.Contains(text, "Not shown: "+match[1]+" more objects of objects") {
		t.Error("the end does not say what is cut")
	}
}

// countMissing counts objects of the small plan that the list of objects lost.
func countMissing(text string, names ...string) int {
	_, list, _ := strings.Cut(text, "+   create")
	missing := 0
	for _, name := range names {
		if !strings.Contains(list, "  "+name) {
			missing++
		}
	}
	if !strings.Contains(list, "databases/db") {
		missing++
	}
	if !strings.Contains(list, "ServiceAccount  databases/operator") {
		missing++
	}
	return missing
}

func TestACommandThatIsTooLongTakesThePlan(t *testing.T) {
	p := reviewtest.FreshInstall(t)
	for i := range 3000 {
		p.Packages[0].Parameters.WatchNamespaces = append(p.Packages[0].Parameters.WatchNamespaces, fmt.Sprint("tenant-", i))
	}
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
	text := write(t, p, Options{Format: Markdown})
	if !strings.Contains(text, "\nkubectl operator install --plan PLANFILE --yes\n") || !strings.Contains(text, p.Digest) {
		t.Errorf("neither the command nor what stands in for it:\n%.2000s", text)
	}
}

// permissions returns the table of permissions, empty without any.
func permissions(p *preview.Plan) string {
	if s := review.Of(p).Section(review.Permissions); s != nil {
		return markdownTable(*s)
	}
	return ""
}

// The permissions that a plan gives and takes are a table with signs, bounded, and none
// for an uninstall, which takes all of them.
func TestPermissionsAreATable(t *testing.T) {
	p := reviewtest.Base(preview.RequestUpgrade)
	p.Base.Revision = 1
	grant := func(name, verb string) preview.Grant {
		return preview.Grant{
			Subject: preview.Subject{Kind: preview.SubjectServiceAccount, Namespace: "databases", Name: name}, Scope: preview.ScopeCluster,
			Verbs: []string{verb}, APIGroups: []string{""}, Resources: []string{"pods"},
		}
	}
	for i := range maxRows + 3 {
		p.Access.Gained = append(p.Access.Gained, grant(fmt.Sprint("op", i), "get"))
	}
	p.Access.Lost = []preview.Grant{grant("a|b", "delete")}
	table := permissions(p)
	if rows := strings.Count(table, "\n| `"); rows != maxRows {
		t.Errorf("%d rows, want %d", rows, maxRows)
	}
	for _, want := range []string{"### Permissions (23 gained, 1 lost)", "| … 4 more, see `-o json` |"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	p.Access.Gained = nil
	if table := permissions(p); !strings.Contains(table, "| `-` | `ServiceAccount databases/a\\|b` | `delete` | `pods` | `cluster-wide` |\n") {
		t.Errorf("what is lost is\n%s", table)
	}
	p.Request.Action = preview.RequestUninstall
	if table := permissions(p); table != "" {
		t.Errorf("an uninstall has\n%s", table)
	}
}
