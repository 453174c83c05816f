package cli

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

func TestDownloadsAreToldOfWhenTheyTakeLong(t *testing.T) {
	now := time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)
	var said []string
	m := &downloadMeter{say: func(line string) { said = append(said, line) }, now: func() time.Time { return now }}
	for _, step := range []struct {
		after time.Duration
		p     source.Progress
	}{
		{0, source.Progress{Reference: "quick", Done: 1 << 20, Total: 2 << 20}},
		{100 * time.Millisecond, source.Progress{Reference: "quick", Done: 2 << 20, Total: 2 << 20}},
		{0, source.Progress{Reference: "slow", Done: 1 << 10, Total: 3 << 20}},
		{200 * time.Millisecond, source.Progress{Reference: "slow", Done: 1 << 20, Total: 3 << 20}},
		{900 * time.Millisecond, source.Progress{Reference: "slow", Done: 3 << 19, Total: 3 << 20}},
		{100 * time.Millisecond, source.Progress{Reference: "slow", Done: 2 << 20, Total: 3 << 20}},
		{10 * time.Millisecond, source.Progress{Reference: "slow", Done: 3 << 20, Total: 3 << 20}},
		{0, source.Progress{Reference: "endless", Done: 1}},
		{time.Second, source.Progress{Reference: "endless", Done: 5 << 20}},
	} {
		now = now.Add(step.after)
		m.update(step.p)
	}
	want := []string{
		"downloading slow: 1.0 of 3.0 MiB", "downloading slow: 2.0 of 3.0 MiB", "downloading slow: 3.0 of 3.0 MiB",
		"downloading endless: 5.0 MiB",
	}
	if !slices.Equal(said, want) {
		t.Errorf("said %q, want %q", said, want)
	}
}

func TestSourceFlagsAreCheckedBeforeAnythingIsContacted(t *testing.T) {
	for args, want := range map[string]string{
		"--platform linux":                             "want OS/ARCH",
		"--pull-secret name":                           "want NAMESPACE/NAME",
		"--pull-secret a/b/c":                          "want NAMESPACE/NAME",
		"--insecure-registry https://r.example.com":    "want HOST or HOST:PORT",
		"--insecure-registry registry.example.com/org": "want HOST or HOST:PORT",
	} {
		line := append([]string{"preview", "registry.invalid/b:v1", "--offline"}, strings.Fields(args)...)
		code, _, stderr := runMain(t, line...)
		if code != exitError || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %q, want %q", args, code, stderr, want)
		}
	}
}
