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
		case "--set-string":
			o.SetString = append(o.SetString, value)
		case "--set-json":
			o.SetJSON = append(o.SetJSON, value)
		case "--set-file":
			o.SetFile = append(o.SetFile, value)
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
		"a file":                            {[]string{"--values", "b.yaml"}, m{"env": m{"LOG": "debug"}, "list": []any{3.0}}},
		"a file with nothing in it":         {[]string{"--values", "empty.yaml"}, m{}},
		"JSON is YAML":                      {[]string{"--values", "json.json"}, m{"env": m{"LOG": "error"}}},
		"a later file wins, mappings merge": {[]string{"--values", "a.yaml", "--values", "b.yaml"}, m{"env": m{"LOG": "debug", "REGION": "eu"}, "list": []any{3.0}, "replicas": 1.0}},
		"the order of files counts":         {[]string{"--values", "b.yaml", "--values", "a.yaml"}, m{"env": m{"LOG": "info", "REGION": "eu"}, "list": []any{1.0, 2.0}, "replicas": 1.0}},
		"documents of a file are files":     {[]string{"--values", "two.yaml"}, m{"env": m{"LOG": "warn"}}},
		"--set wins over files":             {[]string{"--set", "env.LOG=trace", "--values", "b.yaml"}, m{"env": m{"LOG": "trace"}, "list": []any{3.0}}},
		"a later --set wins":                {[]string{"--set", "a=1", "--set", "a=2"}, m{"a": int64(2)}},
		"a whole number of --set":           {[]string{"--set", "account=123456789012"}, m{"account": int64(123456789012)}},
		"what begins with 0 is text":        {[]string{"--set", "a=0123,b=12e3,c=1.5,d=0"}, m{"a": "0123", "b": "12e3", "c": "1.5", "d": int64(0)}},
		"a boolean":                         {[]string{"--set", "a=true,b=False"}, m{"a": true, "b": false}},
		"quotes are text":                   {[]string{"--set", `a="1"`}, m{"a": `"1"`}},
		"a list":                            {[]string{"--set", "a={b,1}"}, m{"a": []any{"b", int64(1)}}},
		"an item of a list":                 {[]string{"--values", "b.yaml", "--set", "list[1]=4"}, m{"env": m{"LOG": "debug"}, "list": []any{3.0, int64(4)}}},
		"an escaped dot":                    {[]string{"--set", `ann.a\.b/c=1`}, m{"ann": m{"a.b/c": int64(1)}}},
		"null":                              {[]string{"--set", "a=null"}, m{"a": nil}},
		"no value is the empty text":        {[]string{"--set", "a="}, m{"a": ""}},
		"an equals sign in a value":         {[]string{"--set", "a=b=c"}, m{"a": "b=c"}},
		"a comma separates":                 {[]string{"--set", `a=b\,c,d=e`}, m{"a": "b,c", "d": "e"}},
		"--set-string is text":              {[]string{"--set-string", "a=1", "--set", "a=2"}, m{"a": "1"}},
		"--set-json":                        {[]string{"--set-json", `a={"b": [1, null]}`, "--set-json", `{"c": true}`}, m{"a": m{"b": []any{1.0, nil}}, "c": true}},
		"--set-file":                        {[]string{"--set-file", "a=b.yaml"}, m{"a": "env: {LOG: debug}\nlist: [3]\n"}},
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
		"list.yaml": "[1]\n", "twice.yaml": "a: 1\na: 2\n", "broken.yaml": "a: [\n", "deep.yaml": "a: {x: 1}\nb: [1]\nc: text\n",
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
		"--set of a list in place of a mapping": {[]string{"--values", "deep.yaml", "--set", "a[0]=1"}, "--set a[0]=1: a is a mapping in the values before it, and no list"},
		"--set of a mapping in place of a list": {[]string{"--values", "deep.yaml", "--set", "b.c=1"}, "--set b.c=1: b is a list in the values before it, and no mapping"},
		"--set below a text":                    {[]string{"--values", "deep.yaml", "--set", "c.d=1"}, "--set c.d=1: c is neither mapping nor list in the values before it; give it as a whole"},
		"--set of an index without a list":      {[]string{"--set", "[0]=1"}, "--set [0]=1: want KEY=VALUE"},
		"--set with a second without a key":     {[]string{"--set", "a=1,=2"}, "--set a=1,=2: want KEY=VALUE"},
		"--set with an item without a key":      {[]string{"--set", "a[0].=2"}, "--set a[0].=2: want KEY=VALUE"},
		"--set with a list that does not end":   {[]string{"--set", "a={b"}, "--set a={b: list must terminate with '}'"},
		"--set with indices that take memory":   {[]string{"--set", strings.Repeat("a[65000]", 1) + strings.Repeat("[65000]", 20) + "=1"}, "the indices of all lists add up to more than 1048576"},
		"--set-file of a file that is missing":  {[]string{"--set-file", "a=none.txt"}, "--set-file a=none.txt: open none.txt"},
		"--set-json that is no JSON":            {[]string{"--set-json", "a=[x"}, "--set-json a=[x: invalid character"},
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
