package planning

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// optionsOf are the options that pairs of a flag and its value stand for.
func optionsOf(t *testing.T, args []string) *RenderOptions {
	t.Helper()
	o := &RenderOptions{}
	for i := 0; i < len(args); i += 2 {
		switch value := args[i+1]; args[i] {
		case "--install-mode":
			o.InstallMode = value
		case "--watch-namespace":
			o.WatchNamespaces = append(o.WatchNamespaces, value)
		case "--values":
			o.Values = append(o.Values, value)
		case "--set":
			o.Set = append(o.Set, value)
		case "--certs":
			o.Certs = value
		case "--kube-version":
			o.KubeVersion = value
		case "--api-versions":
			o.APIVersions = append(o.APIVersions, value)
		default:
			t.Fatalf("no option is called %s", args[i])
		}
	}
	return o
}

// values reads the options that arguments stand for, with files to name in
// --values.
func values(t *testing.T, files map[string]string, args ...string) (format.Params, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	return optionsOf(t, args).params()
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

func TestRenderOptionsRefuse(t *testing.T) {
	files := map[string]string{
		"list.yaml": "[1]\n", "twice.yaml": "a: 1\na: 2\n", "broken.yaml": "a: [\n",
	}
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"an install mode that does not exist":   {[]string{"--install-mode", "Some"}, "--install-mode Some: want AllNamespaces, SingleNamespace, OwnNamespace or MultiNamespace"},
		"an issuer that does not exist":         {[]string{"--certs", "magic"}, "--certs magic: want cert-manager, service-ca, generated or none"},
		"a Kubernetes version that is none":     {[]string{"--kube-version", "newest"}, "--kube-version newest: want a version such as v1.37.1"},
		"an API version that is none":           {[]string{"--api-versions", "v1/pods/log"}, "--api-versions v1/pods/log: want GROUP/VERSION or v1, and /KIND behind it for one kind"},
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

func TestRenderOptionsReachTheFormat(t *testing.T) {
	got, err := values(t, nil, "--install-mode", "MultiNamespace", "--watch-namespace", "a", "--watch-namespace", "b",
		"--certs", "none", "--kube-version", "1.37", "--api-versions", "v1", "--api-versions", "monitoring.coreos.com/v1", "--api-versions", "cert-manager.io/v1/Issuer")
	want := format.Params{
		InstallMode: "MultiNamespace", WatchNamespaces: []string{"a", "b"}, Certs: "none", KubeVersion: "1.37",
		Values: map[string]any{}, APIVersions: []string{"v1", "monitoring.coreos.com/v1", "cert-manager.io/v1/Issuer"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("params = %#v, %v; want %#v", got, err, want)
	}
}
