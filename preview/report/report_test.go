package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/review/reviewtest"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

var update = flag.Bool("update", false, "write the golden files")

func write(t *testing.T, p *preview.Plan, o Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, p, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestGolden(t *testing.T) {
	for name, p := range reviewtest.Plans(t) {
		for _, format := range []string{Text, Markdown, JSON, YAML, Manifests, SARIF, CloudPolicy} {
			t.Run(name+"/"+format, func(t *testing.T) {
				golden(t, filepath.Join(name, format), write(t, p, Options{Format: format}))
			})
		}
	}
	p := reviewtest.Plans(t)["fresh-install"]
	t.Run("narrow", func(t *testing.T) { golden(t, "fresh-install/text-60", write(t, p, Options{Width: 60})) })
	t.Run("coloured", func(t *testing.T) { golden(t, "fresh-install/text-colour", write(t, p, Options{Color: true})) })
	t.Run("plaintext secrets", func(t *testing.T) {
		golden(t, "fresh-install/manifests-plaintext", write(t, p, Options{Format: Manifests, PlaintextSecrets: true}))
	})
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name+".golden")
	if *update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run go test -update", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); run go test -update if that is right:\n%s", path, diff)
	}
}

func TestNothingHostileIsPassedOn(t *testing.T) {
	all := reviewtest.Plans(t)
	for name, p := range all {
		for _, o := range []Options{{}, {Color: true}, {ASCII: true}, {Width: 1}, {Format: Markdown}, {Format: JSON}, {Format: YAML}, {Format: Manifests}, {Format: SARIF}, {Format: HTML}} {
			t.Run(fmt.Sprintf("%s/%+v", name, o), func(t *testing.T) {
				text := write(t, p, o)
				for _, own := range []string{"\n", bold, red, yellow, blue, reset} {
					if own == "\n" || o.Color {
						text = strings.ReplaceAll(text, own, "")
					}
				}
				if i := strings.IndexFunc(text, func(r rune) bool { return !textsafe.Printable(r) }); i >= 0 {
					t.Errorf("%q at %d", text[max(0, i-20):min(len(text), i+20)], i)
				}
			})
		}
	}
}

func TestJSONAndYAMLSayTheSame(t *testing.T) {
	for name, p := range reviewtest.Plans(t) {
		t.Run(name, func(t *testing.T) {
			text := write(t, p, Options{Format: JSON})
			var back preview.Plan
			if err := json.Unmarshal([]byte(text), &back); err != nil {
				t.Fatal(err)
			}
			fromJSON, err := preview.DecodeJSON([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			docs, err := preview.Decode([]byte(write(t, p, Options{Format: YAML})))
			if err != nil || len(docs) != 1 {
				t.Fatalf("%d documents, %v", len(docs), err)
			}
			if diff := cmp.Diff(fromJSON, docs[0]); diff != "" {
				t.Errorf("YAML says something else:\n%s", diff)
			}
		})
	}
}

func TestManifestsHoldTheSealedObjectsInOrder(t *testing.T) {
	p := reviewtest.Plans(t)["fresh-install"]
	docs, err := preview.Decode([]byte(write(t, p, Options{Format: Manifests, PlaintextSecrets: true})))
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for i, doc := range docs {
		got := doc.(map[string]any)
		kinds = append(kinds, preview.String(got, "kind"))
		if diff := cmp.Diff(p.Object(preview.RefOf(got).ID()).Planned, got); diff != "" {
			t.Errorf("document %d is not the sealed object:\n%s", i, diff)
		}
	}
	if got := strings.Join(kinds, " "); got != "ServiceAccount Secret ClusterRole Deployment" {
		t.Errorf("order %s", got)
	}
	if masked := write(t, p, Options{Format: Manifests}); strings.Contains(masked, "bjN3") || strings.Contains(masked, "pw-after") {
		t.Error("sensitive values are not masked")
	}
}

func TestSecretValuesAreInNoHumanFormat(t *testing.T) {
	for _, format := range []string{Text, Markdown, JSON, YAML, Manifests, SARIF, HTML} {
		for _, name := range []string{"fresh-install", "upgrade"} {
			text := write(t, reviewtest.Plans(t)[name], Options{Format: format})
			for _, secret := range []string{"czNjcjN0", "bjN3", "pw-before", "pw-after"} {
				if strings.Contains(text, secret) {
					t.Errorf("%s of %s holds %s", format, name, secret)
				}
			}
		}
	}
}

func TestUnknownFormatsAreRefused(t *testing.T) {
	err := Write(&bytes.Buffer{}, &preview.Plan{}, Options{Format: "pdf"})
	if err == nil || !strings.Contains(err.Error(), "want "+OneOf(Names(OfRequest))) {
		t.Errorf("err = %v", err)
	}
}
