package review

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/tui/diffview"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// The plan has the places of a text that change. Their lines have the numbers of
// the whole text, on both sides, and what lies between is counted.
func TestTheLinesOfAFileHaveTheirNumbers(t *testing.T) {
	f := &preview.File{Path: "run.sh", Action: preview.ActionUpdate, Mode: "0755", Live: preview.LiveFile{Mode: "0755"}, Changes: []preview.Change{
		{Path: "lines 3-6", Op: diff.OpChange, From: "c\nd\n", To: "c\nnew\nnewer\nd\n"},
		{Path: "lines 1000-1001", Op: diff.OpChange, From: "x\nold\ny\n", To: "x\ny\n"},
		{Path: "lines 1200-1201", Op: diff.OpChange, From: "a\nb\n", To: "a\nB\n"},
		{Path: "more", Op: diff.OpChange, From: "", To: "2 of 5 changed places are not shown whole; compare the files themselves"},
	}}
	s := diffview.NewFile(f)
	var got []string
	for _, r := range s.Rows {
		switch r.Kind {
		case diffview.RowGap:
			got = append(got, fmt.Sprint("… ", r.A))
		case diffview.RowLine:
			l := s.Comparison.Lines[r.A]
			got = append(got, fmt.Sprint(l.From, " ", l.To, " ", string(l.Op), l.Text))
		}
	}
	want := []string{
		"… 2", "3 3  c", "0 4 +new", "0 5 +newer", "4 6  d",
		"… 993", "998 1000  x", "999 0 -old", "1000 1001  y",
		"… 198", "1199 1200  a", "1200 0 -b", "0 1201 +B",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(s.Comparison.Starts) != 3 || s.Notes[len(s.Notes)-1].Plain() != " 2 of 5 changed places are not shown whole; compare the files themselves" {
		t.Errorf("%d changes, notes %v", len(s.Comparison.Starts), s.Notes)
	}
}

func TestDOnAFileOpensItsDiff(t *testing.T) {
	m, c := reviewOf(t, setPlan(t), 120, 36)
	tuitest.Drive(m, c, append(append([]any{"3", "/"}, tuitest.Typed("same")...), "enter", "esc", "d")...)
	if m.activeTab().sheet != nil || !strings.Contains(m.notice, "no text of this file") {
		t.Errorf("notice %q", m.notice)
	}
	tuitest.Drive(m, c, append(append([]any{"/"}, tuitest.Typed("run.sh")...), "enter", "esc", "d", "s")...)
	if m.activeTab().sheet == nil || m.activeTab().sheet.Form != diffview.FormBeside || !tuitest.Shows(m, "new | sh") {
		t.Errorf("d and s show\n%s", texts(m))
	}
	tuitest.Drive(m, c, "p") // it has no fields
	if !tuitest.Shows(m, "new | sh") {
		t.Errorf("p shows\n%s", texts(m))
	}
	m, c = reviewOf(t, setPlan(t), 120, 36)
	tuitest.Drive(m, c, "2", "d") // of a finding about a file
	if m.activeTab().sheet == nil || m.activeTab().sheet.File == nil {
		t.Errorf("d on the finding shows\n%s", texts(m))
	}
}
