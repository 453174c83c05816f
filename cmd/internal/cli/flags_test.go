package cli

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// parse gives flags to one group of flags, as a command line would.
func parse(t *testing.T, add func(*pflag.FlagSet), args ...string) {
	t.Helper()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	add(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
}

// values parses the render flags, with files to name in --values.
func values(t *testing.T, files map[string]string, args ...string) (format.Params, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	var f renderFlags
	parse(t, f.add, args...)
	return f.params()
}

func TestValues(t *testing.T) {
	files := map[string]string{
		"a.yaml":     "env: {LOG: info, REGION: eu}\nlist: [1, 2]\nreplicas: 1\n",
		"b.yaml":     "env: {LOG: debug}\nlist: [3]\n",
		"two.yaml":   "env: {LOG: info}\n---\nenv: {LOG: warn}\n",
		"empty.yaml": "# nothing yet\n",
		"json.json":  `{"env": {"LOG": "error"}}`,
	}
	type m = map[string]any
	for name, tt := range map[string]struct {
		args []string
		want m
	}{
		"no values are an empty mapping":    {nil, m{}},
		"a file":                            {[]string{"--values", "b.yaml"}, m{"env": m{"LOG": "debug"}, "list": []any{int64(3)}}},
		"a file with nothing in it":         {[]string{"--values", "empty.yaml"}, m{}},
		"JSON is YAML":                      {[]string{"--values", "json.json"}, m{"env": m{"LOG": "error"}}},
		"a later file wins, mappings merge": {[]string{"--values", "a.yaml", "--values", "b.yaml"}, m{"env": m{"LOG": "debug", "REGION": "eu"}, "list": []any{int64(3)}, "replicas": int64(1)}},
		"the order of files counts":         {[]string{"--values", "b.yaml", "--values", "a.yaml"}, m{"env": m{"LOG": "info", "REGION": "eu"}, "list": []any{int64(1), int64(2)}, "replicas": int64(1)}},
		"documents of a file are files":     {[]string{"--values", "two.yaml"}, m{"env": m{"LOG": "warn"}}},
		"--set wins over files":             {[]string{"--set", "env.LOG=trace", "--values", "b.yaml"}, m{"env": m{"LOG": "trace"}, "list": []any{int64(3)}}},
		"--set replaces what is no mapping": {[]string{"--values", "b.yaml", "--set", "list.first=1"}, m{"env": m{"LOG": "debug"}, "list": m{"first": int64(1)}}},
		"a later --set wins":                {[]string{"--set", "a=1", "--set", "a=2"}, m{"a": int64(2)}},
		"a value is YAML: a number":         {[]string{"--set", "a=1"}, m{"a": int64(1)}},
		"a value is YAML: a boolean":        {[]string{"--set", "a=true"}, m{"a": true}},
		"a value is YAML: quoted text":      {[]string{"--set", `a="1"`}, m{"a": "1"}},
		"a value is YAML: a list":           {[]string{"--set", "a=[b, c]"}, m{"a": []any{"b", "c"}}},
		"a value is YAML: a mapping":        {[]string{"--set", "a={b: c}"}, m{"a": m{"b": "c"}}},
		"a value is YAML: null":             {[]string{"--set", "a=null"}, m{"a": nil}},
		"no value is the empty text":        {[]string{"--set", "a="}, m{"a": ""}},
		"what YAML would drop stays text":   {[]string{"--set", "a=#1"}, m{"a": "#1"}},
		"what is no YAML stays text":        {[]string{"--set", "a=[x"}, m{"a": "[x"}},
		"an equals sign in a value":         {[]string{"--set", "a=b=c"}, m{"a": "b=c"}},
		"a comma in a value":                {[]string{"--set", "a=b,c=d"}, m{"a": "b,c=d"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := values(t, files, tt.args...)
			if err != nil || !reflect.DeepEqual(got.Values, tt.want) {
				t.Errorf("values = %#v, %v; want %#v", got.Values, err, tt.want)
			}
		})
	}
}

func TestRenderFlagsRefuse(t *testing.T) {
	files := map[string]string{
		"list.yaml": "[1]\n", "twice.yaml": "a: 1\na: 2\n", "broken.yaml": "a: [\n",
	}
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"an install mode that does not exist":   {[]string{"--install-mode", "Some"}, "--install-mode Some: want AllNamespaces, SingleNamespace, OwnNamespace or MultiNamespace"},
		"an issuer that does not exist":         {[]string{"--certs", "magic"}, "--certs magic: want cert-manager, service-ca or none"},
		"a Kubernetes version that is none":     {[]string{"--kube-version", "newest"}, "--kube-version newest: want a version such as v1.37.1"},
		"an API version that is none":           {[]string{"--api-versions", "v1/pods/log"}, "--api-versions v1/pods/log: want GROUP/VERSION or v1"},
		"a values file that is missing":         {[]string{"--values", "none.yaml"}, "reading --values: open none.yaml"},
		"a values file that is no mapping":      {[]string{"--values", "list.yaml"}, "reading --values list.yaml: want a mapping at the top"},
		"a values file that sets a key twice":   {[]string{"--values", "twice.yaml"}, `reading --values twice.yaml: line 2: key "a" is set twice`},
		"a values file that is no YAML":         {[]string{"--values", "broken.yaml"}, "reading --values broken.yaml: "},
		"--set without a value":                 {[]string{"--set", "a"}, "--set a: want KEY=VALUE"},
		"--set without a key":                   {[]string{"--set", "=1"}, "--set =1: want KEY=VALUE"},
		"--set with an empty part of a path":    {[]string{"--set", "a..b=1"}, "--set a..b=1: want KEY=VALUE"},
		"--set with a path that ends in a dot":  {[]string{"--set", "a.=1"}, "--set a.=1: want KEY=VALUE"},
		"--set with a path that starts with it": {[]string{"--set", ".a=1"}, "--set .a=1: want KEY=VALUE"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := values(t, files, tt.args...); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %q", err, tt.want)
			}
		})
	}
}

func TestRenderFlagsReachTheFormat(t *testing.T) {
	got, err := values(t, nil, "--install-mode", "MultiNamespace", "--watch-namespace", "a", "--watch-namespace", "b",
		"--certs", "none", "--kube-version", "1.37", "--api-versions", "v1", "--api-versions", "monitoring.coreos.com/v1")
	want := format.Params{
		InstallMode: "MultiNamespace", WatchNamespaces: []string{"a", "b"}, Certs: "none", KubeVersion: "1.37",
		Values: map[string]any{}, APIVersions: []string{"v1", "monitoring.coreos.com/v1"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("params = %#v, %v; want %#v", got, err, want)
	}
}

func TestApproveFlags(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0a", 32)
	for name, tt := range map[string]struct {
		args []string
		want string // in the error; empty for none
	}{
		"nothing, to be asked":                     {nil, ""},
		"--yes alone":                              {[]string{"--yes"}, ""},
		"a digest":                                 {[]string{"--yes", "--approve", digest}, ""},
		"a digest with its ruleset":                {[]string{"--yes", "--approve", digest, "--ruleset", "1"}, ""},
		"a plan":                                   {[]string{"--yes", "--plan", "plan.tgz"}, ""},
		"accepted findings":                        {[]string{"--yes", "--accept", "a/b=c"}, ""},
		"an unset variable approves nothing":       {[]string{"--yes", "--approve", ""}, "an empty one approves nothing"},
		"an unset variable names no plan":          {[]string{"--yes", "--plan="}, "an empty one approves nothing"},
		"the empty one also without --yes":         {[]string{"--approve="}, "an empty one approves nothing"},
		"a digest and a plan":                      {[]string{"--yes", "--approve", digest, "--plan", "plan.tgz"}, "cannot be used together"},
		"a digest without --yes":                   {[]string{"--approve", digest}, "need --yes"},
		"a plan without --yes":                     {[]string{"--plan", "plan.tgz"}, "need --yes"},
		"a ruleset without --yes":                  {[]string{"--ruleset", "1"}, "need --yes"},
		"accepted findings without --yes":          {[]string{"--accept", "a=b"}, "need --yes"},
		"a digest that is cut off":                 {[]string{"--yes", "--approve", digest[:20]}, "want sha256: and 64 hexadecimal digits"},
		"a digest of another algorithm":            {[]string{"--yes", "--approve", "md5:00"}, "want sha256: and 64 hexadecimal digits"},
		"a digest that a space came along with":    {[]string{"--yes", "--approve", digest + " "}, "want sha256: and 64 hexadecimal digits"},
		"--yes=false is not --yes":                 {[]string{"--yes=false", "--approve", digest}, "need --yes"},
		"an empty digest beside a plan is refused": {[]string{"--yes", "--plan", "plan.tgz", "--approve", ""}, "an empty one approves nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			var f approveFlags
			parse(t, f.add, tt.args...)
			err := f.check()
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %q", err, tt.want)
			}
		})
	}
}

func TestIsDigest(t *testing.T) {
	hex := strings.Repeat("0123456789abcdef", 4)
	for text, want := range map[string]bool{
		"sha256:" + hex:                        true,
		hex:                                    false,
		"sha512:" + hex:                        false,
		"sha256:" + strings.ToUpper(hex):       false, // one spelling of a digest
		"sha256:" + hex[1:]:                    false,
		"sha256:" + hex + "0":                  false,
		"sha256:" + hex[1:] + "g":              false,
		"sha256:" + "g" + hex[1:]:              false,
		"sha256:" + hex[:30] + "xy" + hex[32:]: false,
		"sha256:":                              false,
		"":                                     false,
	} {
		if got := isDigest(text); got != want {
			t.Errorf("isDigest(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestReadAndOutputFlags(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"the defaults":                       {nil, ""},
		"dry-run":                            {[]string{"--read-only", "dry-run"}, ""},
		"get":                                {[]string{"--read-only", "get"}, ""},
		"another way of reading":             {[]string{"--read-only", "maybe"}, "--read-only maybe: want dry-run or get"},
		"a form":                             {[]string{"-o", "manifests"}, ""},
		"a form that nobody knows":           {[]string{"-o", "pdf"}, "-o pdf: want text, markdown, html, sarif, json, yaml, manifests, cloud-policy, request, installer-role or pod-template"},
		"a severity":                         {[]string{"--fail-on", "unknown"}, ""},
		"a severity that cannot fail a plan": {[]string{"--fail-on", "info"}, "--fail-on info: want critical, warning or unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			var read readFlags
			var doc documentFlags
			parse(t, func(flags *pflag.FlagSet) { read.add(flags, true); doc.add(flags) }, tt.args...)
			err := firstError(read.check(), doc.check())
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %q", err, tt.want)
			}
		})
	}
}

func TestReleaseNames(t *testing.T) {
	for name, tt := range map[string]struct {
		release preview.Release
		want    string
	}{
		"names of DNS labels":          {preview.Release{Name: "a-1", Namespace: "b"}, ""},
		"a release with a dot":         {preview.Release{Name: "a.b", Namespace: "b"}, `release name "a.b": want a DNS label`},
		"a release that is too long":   {preview.Release{Name: strings.Repeat("a", 64), Namespace: "b"}, "want a DNS label"},
		"a namespace in capitals":      {preview.Release{Name: "a", Namespace: "B"}, `namespace "B": want a DNS label`},
		"no release":                   {preview.Release{Namespace: "b"}, `release name "": want a DNS label`},
		"both wrong: always the first": {preview.Release{Name: "A\x1b", Namespace: "B"}, `release name "A\x1b": want a DNS label`},
	} {
		t.Run(name, func(t *testing.T) {
			for range 10 { // an order from a map would show
				err := checkRelease(tt.release)
				if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
					t.Fatalf("error = %v, want %q", err, tt.want)
				}
			}
		})
	}
}
