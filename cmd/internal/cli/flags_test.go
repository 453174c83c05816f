package cli

import (
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
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

func TestRenderFlagsFillTheOptions(t *testing.T) {
	var got planning.RenderOptions
	parse(t, func(flags *pflag.FlagSet) { addRenderFlags(flags, &got) }, "--install-mode", "MultiNamespace", "--watch-namespace", "a", "--watch-namespace", "b",
		"--values", "a.yaml", "--values", "b.yaml", "--set", "a=1,2", "--set", "b=", "--certs", "none", "--kube-version", "1.37",
		"--api-versions", "v1", "--api-versions", "monitoring.coreos.com/v1", "--pin-images")
	want := planning.RenderOptions{
		InstallMode: "MultiNamespace", WatchNamespaces: []string{"a", "b"}, Values: []string{"a.yaml", "b.yaml"}, Set: []string{"a=1,2", "b="},
		Certs: "none", KubeVersion: "1.37", APIVersions: []string{"v1", "monitoring.coreos.com/v1"}, PinImages: true,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("options = %#v, want %#v", got, want)
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
		"an unknown form":                    {[]string{"-o", "pdf"}, "-o pdf: want " + report.OneOf(report.Names(report.OfRequest))},
		"a severity":                         {[]string{"--fail-on", "unknown"}, ""},
		"a report":                           {[]string{"--report", "sarif=a.sarif", "--report", "markdown=a=b.md"}, ""},
		"a report without a file":            {[]string{"--report", "sarif="}, "--report sarif=: want FORM=FILE"},
		"a report of no form":                {[]string{"--report", "pdf=a.pdf"}, "want " + report.OneOf(report.Names(report.OfRequest)) + " before the ="},
		"two reports in one file":            {[]string{"--report", "json=a", "--report", "yaml=./a"}, "another --report names the same file"},
		"a severity that cannot fail a plan": {[]string{"--fail-on", "info"}, "--fail-on info: want critical, warning or unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			var read planning.ReadOptions
			var doc documentFlags
			parse(t, func(flags *pflag.FlagSet) { addReadFlags(flags, &read, true); doc.add(flags, report.OfRequest) }, tt.args...)
			err := firstError(read.Check(), doc.check())
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %q", err, tt.want)
			}
		})
	}
}
