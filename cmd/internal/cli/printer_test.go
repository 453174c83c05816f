package cli

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// printed runs a printer and returns what reached standard output.
func printed(t *testing.T, form string, do func(*printer)) string {
	t.Helper()
	o := testOptions(t)
	a := newApp(o)
	r := &runner{app: a, output: outputFlag{format: form}}
	do(r.printer())
	if err := a.streams.Flush(); err != nil {
		t.Fatal(err)
	}
	return contents(t, o.Out)
}

// events decodes one event a line, and nothing else.
func events(t *testing.T, text string) []map[string]any {
	t.Helper()
	var out []map[string]any
	if text != "" && !strings.HasSuffix(text, "\n") {
		t.Errorf("the last line is not ended: %q", text)
	}
	for line := range strings.Lines(text) {
		var event map[string]any
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatalf("not one event a line: %v in %q", err, line)
		}
		if event["time"] == "" || event["type"] == "" {
			t.Errorf("event without time or type: %s", line)
		}
		out = append(out, event)
	}
	return out
}

func smallPlan() *preview.Plan {
	return &preview.Plan{
		Request:       preview.Request{Action: preview.RequestInstall},
		Release:       preview.Release{Name: "mongodb", Namespace: "databases"},
		Packages:      []preview.Package{{Name: "mongodb", Version: "1.10.0"}},
		Summary:       preview.Summary{Create: 2, Unchanged: 1},
		ContentDigest: "sha256:c0", Digest: "sha256:d0",
		Findings: []preview.Finding{
			{ID: "rbac-secrets-read/x", Rule: "rbac-secrets-read", Fingerprint: "f1", Severity: preview.Critical, Title: "reads every Secret", Object: "x"},
			{ID: "image-unpinned/y", Fingerprint: "f2", Severity: preview.Info, Title: "names an image by tag", Object: "y"},
		},
	}
}

func TestEventsAsJSON(t *testing.T) {
	zero := 0
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	text := printed(t, "json", func(p *printer) {
		plan := smallPlan()
		p.plan(plan)
		p.event(install.Event{Time: now, Type: install.EventStage, Stage: "crds", Message: "2 objects"})
		p.event(install.Event{Time: now, Type: install.EventObject, Object: "core/ConfigMap/a/b", State: record.StateReady, Message: "two\nlines \x1b[2J\u202e\u200b\u0085"})
		receipt := &record.Receipt{Revision: 1}
		p.event(install.Event{Time: now, Type: install.EventResult, ExitCode: &zero, Digest: plan.Digest, ContentDigest: plan.ContentDigest, Revision: 1, Receipt: receipt})
		p.printDone(plan, receipt, nil)
	})
	for _, raw := range []string{"\x1b", "\u202e", "\u200b", "\u0085"} {
		if strings.Contains(text, raw) {
			t.Errorf("%q was written as it is", raw)
		}
	}
	got := events(t, text)
	var types []string
	for _, event := range got {
		types = append(types, event["type"].(string))
	}
	if want := "plan finding finding stage object result"; strings.Join(types, " ") != want {
		t.Fatalf("events are %v, want %s", types, want)
	}
	if got[0]["digest"] != "sha256:d0" || got[0]["contentDigest"] != "sha256:c0" || got[0]["message"] != "+ 2 create  = 1 unchanged" {
		t.Errorf("the plan is %v", got[0])
	}
	for field, want := range map[string]any{
		"object": "x", "message": "reads every Secret", "severity": "critical", "rule": "rbac-secrets-read", "id": "rbac-secrets-read/x", "fingerprint": "f1",
	} {
		if got[1][field] != want {
			t.Errorf("%s of the finding is %v, want %v", field, got[1][field], want)
		}
	}
	if got[4]["message"] != "two\nlines \x1b[2J\u202e\u200b\u0085" || got[4]["state"] != "ready" {
		t.Errorf("the object is %v", got[4])
	}
	last := got[len(got)-1]
	if code, ok := last["exitCode"].(float64); !ok || code != 0 {
		t.Errorf("the result has exit code %v, want 0 in writing", last["exitCode"])
	}
	if last["digest"] != "sha256:d0" || last["revision"] != 1.0 || last["receipt"] == nil {
		t.Errorf("the result is %v", last)
	}
	for _, event := range got[:len(got)-1] {
		if _, has := event["exitCode"]; has {
			t.Errorf("only the result has an exit code: %v", event)
		}
	}
}

func TestEventsOfARunThatNeverBegan(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		code float64
	}{
		"unreachable": {errors.New("no route to host"), 1},
		"refused":     {refuse("another cluster", "choose the right one"), 5},
	} {
		t.Run(name, func(t *testing.T) {
			got := events(t, printed(t, "json", func(p *printer) { p.printFailed(tt.err) }))
			if len(got) != 2 || got[0]["type"] != "error" || got[0]["message"] != tt.err.Error() {
				t.Fatalf("events are %v, want the error and the result", got)
			}
			if got[1]["type"] != "result" || got[1]["exitCode"] != tt.code {
				t.Errorf("the last event is %v, want the result with %v", got[1], tt.code)
			}
		})
	}
}

// A run that fails before apply ends with a result, whatever failed.
func TestMainEndsJSONWithAResult(t *testing.T) {
	t.Setenv("KUBECONFIG", t.TempDir()+"/none")
	t.Setenv("HOME", t.TempDir())
	for name, args := range map[string][]string{
		"no such directory": {"install", "./none", "--yes", "-o", "json"},
		"no such plan":      {"install", "--yes", "--plan", "none.tgz", "-o", "json"},
		"no approval":       {"install", "./none", "-o", "json"},
		"nothing named":     {"install", "--yes", "-o", "json"},
		"no cluster":        {"uninstall", "mongodb", "--yes", "-o", "json"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := runMain(t, args...)
			got := events(t, stdout)
			if code != exitError || len(got) != 2 || got[1]["exitCode"] != 1.0 || !strings.HasPrefix(stderr, "error: ") {
				t.Errorf("exit code %d, events %v, and %q", code, got, stderr)
			}
		})
	}
}

func TestEventsAsText(t *testing.T) {
	got := printed(t, "text", func(p *printer) {
		p.plan(smallPlan())
		p.event(install.Event{Type: install.EventStage, Stage: "crds", Message: "2 objects"})
		p.event(install.Event{Type: install.EventObject, Object: "core/ConfigMap/a/b", State: record.StateFailed, Message: "no\n  ready     core/ConfigMap/a/b \x1b[2J"})
		for _, state := range []record.ObjectState{record.StateSent, record.StateWaiting, record.StateWaiting, record.StateReady, record.StateReady} {
			p.event(install.Event{Type: install.EventObject, Object: "core/Secret/a/b", State: state})
		}
		p.event(install.Event{Type: install.EventLog, Message: "waiting\nready"})
		p.event(install.Event{Type: install.EventResult})
	})
	want := `install mongodb 1.10.0 -> namespace databases
  plan    sha256:d0
  will    + 2 create  = 1 unchanged
  critical reads every Secret
stage crds             2 objects
  failed    ConfigMap a/b  no␤  ready     core/ConfigMap/a/b \x1b[2J
  waiting   Secret a/b
  waiting   Secret a/b
  ready     Secret a/b
  waiting␤ready
`
	if got != want {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
}
