package help

import (
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

var destination = regexp.MustCompile(`\]\(([^)]*)\)`)

func TestEveryTopicHasASummaryAndLeadsOnlyToOthers(t *testing.T) {
	names := map[string]bool{}
	for _, topic := range Topics() {
		names[topic.Name] = true
	}
	if len(names) < 15 {
		t.Fatalf("%d topics: the pages are not embedded", len(names))
	}
	for _, topic := range Topics() {
		if topic.Summary == "" || !strings.HasPrefix(topic.Text, "# "+topic.Name+": ") {
			t.Errorf("%s.md does not begin with %q and what it is about", topic.Name, "# "+topic.Name+": ")
		}
		for _, match := range destination.FindAllStringSubmatch(topic.Text, -1) {
			name, isTopic := strings.CutSuffix(match[1], ".md")
			if !strings.HasPrefix(match[1], "https://") && !(isTopic && names[name]) {
				t.Errorf("%s.md has a link to %q, which is neither a topic nor an address", topic.Name, match[1])
			}
		}
	}
}

// The renderer prints what it does not know as if it were a paragraph.
func TestThePagesUseTheMarkdownThatIsRendered(t *testing.T) {
	known := map[string]bool{
		"Document": true, "Heading": true, "Paragraph": true, "TextBlock": true, "FencedCodeBlock": true, "List": true, "ListItem": true,
		"Table": true, "TableHeader": true, "TableRow": true, "TableCell": true,
		"Text": true, "String": true, "CodeSpan": true, "Emphasis": true, "Link": true, "AutoLink": true,
	}
	for _, topic := range Topics() {
		page := goldmark.New(goldmark.WithExtensions(extension.Table)).Parser().Parse(text.NewReader([]byte(topic.Text)))
		err := ast.Walk(page, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if entering && !known[n.Kind().String()] {
				t.Errorf("%s.md has a %s", topic.Name, n.Kind())
			}
			return ast.WalkContinue, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The pages are shown as a full CommonMark parser reads them.
func TestPagesAreReadAsCommonMark(t *testing.T) {
	for _, topic := range Topics() {
		for _, width := range []int{40, 60, 80, 100} {
			if got, want := render(topic.Text, width), renderCommonMark([]byte(topic.Text), width); got != want {
				t.Errorf("%s at %d columns: got\n%s\nwant\n%s", topic.Name, width, got, want)
			}
		}
	}
}

func TestRender(t *testing.T) {
	tests := []struct {
		name, markdown string
		width          int
		want           string
	}{
		{"a heading and a paragraph that is too long", "# a: b\n\none two\nthree four five six seven eight nine ten\n", 40,
			"A: B\n\none two three four five six seven eight\nnine ten\n"},
		{"a command is not broken", "see `kubectl operator install --yes mongodb` for that\n", 40,
			"see\nkubectl operator install --yes mongodb\nfor that\n"},
		{"code stays as it is", "text:\n\n```\nkubectl operator  install x && kubectl operator status x\n```\n", 40,
			"text:\n\n    kubectl operator  install x && kubectl operator status x\n"},
		{"a list", "* one two three four five six seven eight nine\n* **b.** c\n", 40,
			"- one two three four five six seven\n  eight nine\n- b. c\n"},
		{"a table with a short first column", "| code | meaning | changed |\n| --- | --- | --- |\n| 0 | done | no |\n| `10` | not | |\n", 80,
			"  0   done\n      changed: no\n  10  not\n"},
		{"a table with a long one", "| typed | means | pinned to |\n| --- | --- | --- |\n| `HOST/REPO:TAG`, `HOST/REPO` | image | digest |\n", 80,
			"  HOST/REPO:TAG, HOST/REPO\n      image\n      pinned to: digest\n"},
		{"links", "[plans](plans.md) and [age](https://age-encryption.org)\n", 80, "plans (help plans) and age (https://age-encryption.org)\n"},
		{"a width that is not known", "a\n", 0, "a\n"},
		{"what a table cannot hold as it is", "| a | b |\n| --- | --- |\n| x | `p\\|q` |\n", 80, "  x  p|q\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := render(tt.markdown, tt.width); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestPagesFitTheTerminal(t *testing.T) {
	for _, topic := range Topics() {
		var page strings.Builder
		if err := topic.Write(&page, 60); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(page.String()) {
			line = strings.TrimRight(line, "\n")
			// Code and single words may be wider.
			if len([]rune(line)) > 60 && !strings.HasPrefix(line, "    ") && strings.Count(strings.TrimSpace(line), " ") > 8 {
				t.Errorf("%s: %d columns: %s", topic.Name, len([]rune(line)), line)
			}
		}
	}
}
