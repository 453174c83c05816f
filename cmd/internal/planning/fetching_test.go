package planning

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/config"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

func TestDownloadsAreReportedWhenTheyTakeLong(t *testing.T) {
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

// What a Fetcher can be told, the options or the configuration can say.
func TestEverySourceOptionIsWired(t *testing.T) {
	dir := t.TempDir()
	mirrors := "apiVersion: config.openshift.io/v1\nkind: ImageDigestMirrorSet\nspec: {imageDigestMirrors: [{source: a.example.com, mirrors: [b.example.com]}]}\n"
	for name, text := range map[string]string{"config.yaml": "mirrors: [mirrors.yaml]\ncache: {maxBytes: 7}\n", "mirrors.yaml": mirrors} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	getenv := func(name string) string {
		return map[string]string{"KUBECTL_OPERATOR_CONFIG": filepath.Join(dir, "config.yaml")}[name]
	}
	e := Environment{
		Config:         func() (config.Config, error) { return config.Load(getenv) },
		RequestTimeout: func() (time.Duration, error) { return 7 * time.Second, nil },
	}
	got, err := e.fetching(SourceOptions{
		RegistryConfig: "x", CacheDir: "x", CAFile: "x", Platform: "linux/arm64", PlainHTTP: true,
		PullSecrets: []string{"a/b"}, InsecureRegistries: []string{"a.example.com"}, PrivateAddresses: []string{"10.0.0.5"},
	}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	// The resolver's and the plugin commands' to set.
	others := []string{"Offline", "Cluster", "Credentials", "Artifacts", "Programs"}
	fields := reflect.ValueOf(got)
	for i := range fields.NumField() {
		name := fields.Type().Field(i).Name
		if fields.Field(i).IsZero() && !slices.Contains(others, name) {
			t.Errorf("nothing sets %s", name)
		}
	}
}
