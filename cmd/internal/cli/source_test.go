package cli

import (
	"cmp"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

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

// Every choice about sources has a flag.
func TestEverySourceOptionHasAFlag(t *testing.T) {
	var o planning.SourceOptions
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	addSourceFlags(flags, &o)
	flags.VisitAll(func(flag *pflag.Flag) {
		value := map[string]string{"plain-http": "true"}[flag.Name]
		if err := flag.Value.Set(cmp.Or(value, "x")); err != nil {
			t.Fatal(err)
		}
	})
	fields := reflect.ValueOf(o)
	for i := range fields.NumField() {
		name := fields.Type().Field(i).Name
		if fields.Field(i).IsZero() && name != "SetsAlone" { // which is said by the command
			t.Errorf("no flag sets %s", name)
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
