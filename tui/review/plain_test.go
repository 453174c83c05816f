package review

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// plainly answers a plain review with lines, and returns what was printed.
func plainly(t *testing.T, p *preview.Plan, answers string, change func(*Options)) (Outcome, string, error) {
	t.Helper()
	var out bytes.Buffer
	opts := Options{
		Terminal: frame.Terminal{Input: strings.NewReader(answers), Output: textsafe.NewWriter(&out), Width: 100},
		Plan:     p, Recheck: recheckSame(p), Gate: openGate, Now: tuitest.NewClock().Now, Title: "install mongodb", PriorAcceptance: acceptedBefore,
	}
	if change != nil {
		change(&opts)
	}
	outcome, err := RunPlain(tuitest.Deadline(t), opts)
	return outcome, out.String(), err
}

func TestPlainAnswers(t *testing.T) {
	fresh, clean := tuitest.FreshPlan(t), tuitest.CleanPlan(t)
	const looks = "1\n\n2\n\n3\n\n"
	for _, tc := range []struct {
		name, answers string
		plan          *preview.Plan
		want          Kind
	}{
		{"everything looked at, approved by its name", looks + "a\nmongodb\n", fresh, Approved},
		{"a leads to what is left, one after another", "a\n\na\n\na\n\na\nmongodb\n", fresh, Approved},
		{"the end of the input at once", "", fresh, Quit},
		{"the end of the input at the evidence", "1\n", fresh, Quit},
		{"the end of the input after the looks", looks, fresh, Quit},
		{"the end of the input at the question", looks + "a\n", fresh, Declined},
		{"a name without the line's end", looks + "a\nmongodb", fresh, Declined},
		{"q", "q\n", fresh, Quit},
		{"q at the evidence leaves it open", "1\nq\n2\n\n3\n\na\nq\nmongodb\nmongodb\n", fresh, Quit},
		{"the name before the question", "mongodb\n", fresh, Quit},
		{"one look is missing", "1\n\n2\n\na\nmongodb\nmongodb\n", fresh, Quit},
		{"a number that is not listed", "0\n99\n-1\na\n", fresh, Quit},
		{"another word, then the name without the question", looks + "a\nyes\nmongodb\n", fresh, Quit},
		{"another word, then the question again", looks + "a\nyes\na\nmongodb\n", fresh, Approved},
		{"another case", looks + "a\nMongoDB\n", fresh, Quit},
		{"a blank before the name", looks + "a\n mongodb\n", fresh, Quit},
		{"a name with more behind it", looks + "a\n" + "mongodb" + strings.Repeat("x", 1000) + "\n", fresh, Quit},
		{"y is no answer, even where the screen would take it", "a\ny\n", clean, Quit},
		{"nothing to look at, the name", "a\nmongodb\n", clean, Approved},
		{"lines of a terminal that sends carriage returns", "a\r\nmongodb\r\n", clean, Approved},
	} {
		t.Run(tc.name, func(t *testing.T) {
			outcome, said, err := plainly(t, tc.plan, tc.answers, nil)
			if err != nil || outcome.Kind != tc.want {
				t.Fatalf("outcome %v, want %v; error %v\n%s", outcome.Kind, tc.want, err, said)
			}
			if (outcome.PlanDigest == tc.plan.Digest) != (tc.want == Approved) || tc.want != Approved && len(outcome.Accepted) > 0 {
				t.Errorf("approved %q, accepted %v", outcome.PlanDigest, outcome.Accepted)
			}
			if tc.want == Approved && !strings.Contains(said, tc.plan.Digest) {
				t.Error("the digest that was approved was not printed")
			}
		})
	}
}

func TestPlainReviewReadsAsRecorded(t *testing.T) {
	for name, plan := range map[string]*preview.Plan{"fresh": tuitest.FreshPlan(t), "upgrade": tuitest.UpgradePlan(t)} {
		_, said, err := plainly(t, plan, "1\n\na\n\n\na\n\na\nmongodb\n", nil)
		if err != nil {
			t.Fatal(err)
		}
		tuitest.Compare(t, "plain/"+name, said)
		if i := strings.IndexFunc(said, func(r rune) bool { return r < ' ' && r != '\n' || strings.ContainsRune("│─┌┐└┘├┤", r) }); i >= 0 {
			t.Errorf("%s: a control character or a box at %q", name, said[i:min(len(said), i+20)])
		}
	}
}

func TestPlainWhenTheClusterMoves(t *testing.T) {
	p, now := tuitest.FreshPlan(t), changedWebhook(t)
	moved := func(o *Options) { o.Recheck = recheckSame(now) }
	const looks = "1\n\n2\n\n3\n\na\n"
	outcome, said, _ := plainly(t, p, looks+"mongodb\n", moved)
	if outcome.Kind == Approved {
		t.Fatal("the old plan was approved")
	}
	for _, part := range []string{"The cluster changed during the review", "1 of 3 marks reset"} {
		if !strings.Contains(said, part) {
			t.Errorf("it does not say %q", part)
		}
	}
	outcome, _, _ = plainly(t, p, looks+"a\n\na\nmongodb\n", moved)
	if outcome.Kind != Approved || outcome.PlanDigest != now.Digest {
		t.Errorf("outcome %v of %s, want the new plan approved", outcome.Kind, outcome.PlanDigest)
	}
}

func TestPlainThatCannotBeApproved(t *testing.T) {
	blocked := tuitest.CleanPlan(t)
	blocked.Objects[0].Action = preview.ActionBlocked
	outcome, said, _ := plainly(t, blocked, "a\nmongodb\n", nil)
	if outcome.Kind == Approved || !strings.Contains(said, "belongs to Helm release") {
		t.Errorf("outcome %v\n%s", outcome.Kind, said)
	}
	outcome, said, _ = plainly(t, tuitest.CleanPlan(t), "a\nmongodb\n", func(o *Options) {
		o.Recheck = func(context.Context, *preview.Plan, func(string)) (*preview.Plan, error) {
			return nil, errors.New("connection refused")
		}
	})
	if outcome.Kind == Approved || !strings.Contains(said, "could not be checked again: connection refused") {
		t.Errorf("outcome %v\n%s", outcome.Kind, said)
	}
}

func TestPlainProgressAndHeartbeat(t *testing.T) {
	p, beats := tuitest.CleanPlan(t), &countingWriter{enough: make(chan struct{}), of: []byte("still pulling"), n: 2}
	outcome, err := RunPlain(tuitest.Deadline(t), Options{
		Terminal: frame.Terminal{Input: strings.NewReader("q\n"), Output: beats}, Beat: time.Millisecond,
		Title: "install mongodb", Recheck: recheckSame(p), Gate: openGate,
		Resolve: func(_ context.Context, progress func(string)) (*preview.Plan, error) {
			progress("pulling\x1b[2J")
			<-beats.enough
			return p, nil
		},
	})
	if err != nil || outcome.Kind != Quit || !strings.Contains(beats.text.String(), "  pulling\\x1b[2J\n") {
		t.Errorf("outcome %v, error %v\n%s", outcome.Kind, err, beats.text.String())
	}
	want := errors.New("no such package")
	outcome, _, err = plainly(t, nil, "", func(o *Options) {
		o.Resolve = func(context.Context, func(string)) (*preview.Plan, error) { return nil, want }
	})
	if err != nil || outcome.Kind != Failed || !errors.Is(outcome.Err, want) {
		t.Errorf("outcome %v, error %v", outcome, err)
	}
}

// countingWriter keeps what is written, and says when something came n times.
type countingWriter struct {
	text   bytes.Buffer
	of     []byte
	n      int
	enough chan struct{}
}

func (w *countingWriter) Write(p []byte) (int, error) {
	if bytes.Contains(p, w.of) {
		if w.n--; w.n == 0 {
			close(w.enough)
		}
	}
	return w.text.Write(p)
}

func TestPlainEndsWithItsContext(t *testing.T) {
	in, keep := io.Pipe()
	defer func() { _ = keep.Close() }()
	ctx, cancel := context.WithCancel(tuitest.Deadline(t))
	asked := &countingWriter{enough: make(chan struct{}), of: []byte("q quit: "), n: 1}
	go func() { <-asked.enough; cancel() }()
	p := tuitest.CleanPlan(t)
	outcome, err := RunPlain(ctx, Options{Terminal: frame.Terminal{Input: in, Output: asked}, Plan: p, Recheck: recheckSame(p), Gate: openGate})
	if outcome.Kind == Approved || !errors.Is(err, context.Canceled) {
		t.Errorf("outcome %v, error %v", outcome.Kind, err)
	}
}

func TestHostileTextStaysTextInLines(t *testing.T) {
	for name, plan := range map[string]*preview.Plan{"fresh": tuitest.FreshPlan(t), "upgrade": tuitest.UpgradePlan(t)} {
		poison{tuitest.Hostile, func() string { return tuitest.Hostile }}.plan(plan)
		answers := ""
		for i := range 9 {
			answers += fmt.Sprintf("%d\n\n", i+1)
		}
		_, said, err := plainly(t, plan, answers+"a\nno\n", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(said, "\n") {
			if textsafe.Hostile(line) {
				t.Fatalf("%s: hostile text: %.80q", name, line)
			}
		}
	}
}

// Without a terminal lines are as wide as those of reports, and name no keys of the screen.
func TestPlainReviewWithoutATerminalIsAsWideAsAReport(t *testing.T) {
	const answers = "1\n\nq\n"
	_, known, _ := plainly(t, tuitest.FreshPlan(t), answers, nil)
	_, text, _ := plainly(t, tuitest.FreshPlan(t), answers, func(o *Options) { o.Width = 0 })
	if text != known {
		t.Errorf("with a width of 0 it is\n%s\nwith 100\n%s", text, known)
	}
	for _, never := range []string{"x shows", "e shows", " t takes the fields"} {
		if strings.Contains(text, never) {
			t.Errorf("it names a key that it has not: %q in\n%s", never, text)
		}
	}
}
