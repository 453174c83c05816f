package cli

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
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
		"--allow-private-address storage.example.com":  "want ADDRESS or ADDRESS:PORT",
		"--allow-private-address 10.0.0.0/8":           "want ADDRESS or ADDRESS:PORT",
		"--request-timeout soon":                       "--request-timeout",
	} {
		line := append([]string{"preview", "registry.invalid/b:v1", "--offline"}, strings.Fields(args)...)
		code, _, stderr := runMain(t, line...)
		if code != exitError || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %q, want %q", args, code, stderr, want)
		}
	}
}

// What a Fetcher can be told, the command line or the configuration can say.
func TestEverySourceOptionIsWired(t *testing.T) {
	dir := t.TempDir()
	mirrors := "apiVersion: config.openshift.io/v1\nkind: ImageDigestMirrorSet\nspec: {imageDigestMirrors: [{source: a.example.com, mirrors: [b.example.com]}]}\n"
	for name, text := range map[string]string{"config.yaml": "mirrors: [mirrors.yaml]\ncache: {maxBytes: 7}\n", "mirrors.yaml": mirrors} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := testOptions(t)
	o.Getenv = func(name string) string {
		return map[string]string{"KUBECTL_OPERATOR_CONFIG": filepath.Join(dir, "config.yaml")}[name]
	}
	a := newApp(o)
	var f sourceFlags
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	f.add(flags)
	flags.VisitAll(func(flag *pflag.Flag) {
		value := map[string]string{"pull-secret": "a/b", "insecure-registry": "a.example.com", "allow-private-address": "10.0.0.5", "plain-http": "true", "platform": "linux/arm64"}[flag.Name]
		if err := flag.Value.Set(orElse(value, "x")); err != nil {
			t.Fatal(err)
		}
	})
	a.kube.AddFlags(flags)
	if err := flags.Set("request-timeout", "7s"); err != nil {
		t.Fatal(err)
	}
	got, err := a.sourceOptions(f, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	// The resolver's and the plugin commands' to set.
	others := []string{"Offline", "Cluster", "Credentials", "Artifacts"}
	fields := reflect.ValueOf(got)
	for i := range fields.NumField() {
		name := fields.Type().Field(i).Name
		if fields.Field(i).IsZero() && !slices.Contains(others, name) {
			t.Errorf("nothing sets %s", name)
		}
	}
}

func TestAnInsecureRegistryIsReadWhenItIsNamed(t *testing.T) {
	registry := sourcetest.TLS(t)
	bundle := os.DirFS(filepath.Join("..", "..", "..", "testdata", "bundles", "mongodb", "1.10.0"))
	if _, err := source.PushDir(t.Context(), registry.Host+"/b:v1", bundle, nil, registry.Options(t)); err != nil {
		t.Fatal(err)
	}
	args := []string{"preview", registry.Host + "/b:v1", "--offline", "--cache-dir", t.TempDir()}
	if code, _, stderr := runMain(t, args...); code != exitError || !strings.Contains(stderr, "--ca-file adds its root") {
		t.Errorf("exit code %d, %q", code, stderr)
	}
	if code, _, stderr := runMain(t, append(args, "--insecure-registry", registry.Host)...); code != exitDone {
		t.Errorf("exit code %d, %q", code, stderr)
	}
}
