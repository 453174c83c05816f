package report

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/review"
	"github.com/kubectl-operator/kubectl-operator/preview/review/reviewtest"
)

func TestSARIFHoldsToItsStandard(t *testing.T) {
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	schema, err := compiler.Compile(filepath.Join("testdata", "sarif-2.1.0.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	all := reviewtest.Plans(t)
	for _, text := range injections {
		all["injection "+text] = reviewtest.HostilePlan(text)
	}
	for name, p := range all {
		text := write(t, p, Options{Format: SARIF})
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%.40q: %v", name, err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%.40q: %v", name, err)
		}
		var log sarifLog
		if err := json.Unmarshal([]byte(text), &log); err != nil {
			t.Fatal(err)
		}
		run := log.Runs[0]
		if len(run.Results) != len(p.Findings) || len(run.Invocations[0].Notifications) != len(p.Unknowns) {
			t.Errorf("%.40q: %d results of %d findings", name, len(run.Results), len(p.Findings))
		}
		for i, result := range run.Results {
			if run.Tool.Driver.Rules[result.Index].ID != result.Rule {
				t.Errorf("%.40q: result %d is of another rule than its index says", name, i)
			}
		}
	}
}

func TestSARIFNamesWhereAFindingStands(t *testing.T) {
	p := reviewtest.FreshInstall(t)
	p.Packages[0].Sources = []preview.Source{{Kind: "directory", Reference: "./bundles/my db", Digest: reviewtest.Digest("a")}}
	p.Objects[0].Origin = preview.Origin{File: "manifests/a:b c.yaml", Document: 2}
	var log sarifLog
	if err := json.Unmarshal([]byte(write(t, p, Options{Format: SARIF})), &log); err != nil {
		t.Fatal(err)
	}
	results := log.Runs[0].Results
	critical, warning, info := results[0], results[1], results[2]
	if critical.Level != "error" || warning.Level != "warning" || info.Level != "note" {
		t.Errorf("levels %s, %s, %s", critical.Level, warning.Level, info.Level)
	}
	first, second := critical.Locations[0], warning.Locations[0]
	if first.Physical.Artifact.URI != "bundles/my%20db/manifests/a:b%20c.yaml" || first.Physical.Region != nil {
		t.Errorf("what has no known line is at %+v", first.Physical)
	}
	if second.Physical.Region == nil || second.Physical.Region.StartLine != 22 {
		t.Errorf("what is on line 22 is at %+v", second.Physical)
	}
	if info.Locations[0].Physical != nil || info.Locations[0].Logical[0].Name == "" {
		t.Errorf("what no file holds is at %+v", info.Locations[0])
	}
	if critical.Fingerprints[fingerprintKey] != p.Findings[0].Fingerprint {
		t.Errorf("fingerprints %v", critical.Fingerprints)
	}
}

func TestAFileOfABundleIsNoOtherAddress(t *testing.T) {
	for file, want := range map[string]string{
		"manifests/x.yaml": "manifests/x.yaml", "https://evil.example/x": "https%3A/evil.example/x", "javascript:alert(1)": "javascript%3Aalert%281%29",
		"../../etc/passwd": "etc/passwd", "//evil.example/x": "evil.example/x", "a?b#c": "a%3Fb%23c", "x\nY": "x%0AY",
	} {
		p := reviewtest.FreshInstall(t)
		p.Objects[0].Origin = preview.Origin{File: file, Document: 1}
		got := sarifURI(p, p.Findings[0], file, review.NewReader(p))
		u, err := url.Parse(got)
		if err != nil || u.Scheme != "" || u.Host != "" || strings.ReplaceAll(got, "(", "%28") != strings.ReplaceAll(want, "(", "%28") {
			t.Errorf("%q is at %q, want %q (%v)", file, got, want, err)
		}
	}
}

func TestSARIFMessagesHaveNoLinks(t *testing.T) {
	if got := sarifText(`see [x](https://evil) {0} \ end`).Text; got != `see \[x\](https://evil) {{0}} \\ end` {
		t.Error(got)
	}
}
