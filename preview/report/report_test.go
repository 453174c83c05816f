package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
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
	for name, p := range plans(t) {
		for _, format := range []string{Text, Markdown, JSON, YAML, Manifests, SARIF, CloudPolicy} {
			t.Run(name+"/"+format, func(t *testing.T) {
				golden(t, filepath.Join(name, format), write(t, p, Options{Format: format}))
			})
		}
	}
	p := plans(t)["fresh-install"]
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
	all := plans(t)
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
	for name, p := range plans(t) {
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
	p := plans(t)["fresh-install"]
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
			text := write(t, plans(t)[name], Options{Format: format})
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

// unrepeatablePlan returns a plan with a certificate that was made for it.
func unrepeatablePlan(t *testing.T) *preview.Plan {
	t.Helper()
	p := *plans(t)["fresh-install"]
	p.Request = preview.Request{Action: preview.RequestInstall, Reference: "./chart", Flags: []string{"--context=prod", "--set=size=2", "--no-wait"}}
	p.Packages = slices.Clone(p.Packages)
	p.Packages[0].Parameters.Certs = preview.CertsGenerated
	p.Packages[0].Notes = append(slices.Clone(p.Packages[0].Notes), preview.Note{Rule: rules.CertificateMade.Name, Object: "core/Secret/databases/cert"})
	p.Objects = append(slices.Clone(p.Objects), object(t, preview.ActionCreate, "", "{apiVersion: v1, kind: Secret, metadata: {name: cert, namespace: databases}, stringData: {key: own}}"))
	return &p
}

// What y and Y copy, and what the roles are printed with, names no file that was not saved.
func TestAPlanThatNoOtherRepeatsIsReviewedFromItsSource(t *testing.T) {
	p, narrow := unrepeatablePlan(t), unrepeatablePlan(t)
	narrow.Packages[0].Parameters.InstallMode, narrow.Packages[0].Parameters.WatchNamespaces = "SingleNamespace", []string{"orders"}
	for got, want := range map[string]string{
		ReviewCommand(p):                                        "kubectl operator install ./chart --namespace databases --catalog registry.example.com/catalog:latest --install-mode AllNamespaces --certs generated --context=prod --set=size=2",
		ReviewCommand(p, "--certs", "none"):                     "kubectl operator install ./chart --namespace databases --catalog registry.example.com/catalog:latest --install-mode AllNamespaces --context=prod --set=size=2 --certs none",
		ReviewCommand(narrow, "--install-mode", "OwnNamespace"): "kubectl operator install ./chart --namespace databases --catalog registry.example.com/catalog:latest --certs generated --context=prod --set=size=2 --install-mode OwnNamespace",
		RoleCommand(p):                                          "kubectl operator preview ./chart --namespace databases --catalog registry.example.com/catalog:latest --install-mode AllNamespaces --certs generated --context=prod --set=size=2 -o installer-role",
		strings.Join(installNotes(p)[:1], " "):                  "It holds values that another plan would not have, which no digest approves: the first command makes such a plan again and saves it, the second applies that file. The file has the secret values in the clear; --plan-recipient KEY in place of --plaintext-secrets encrypts it.",
	} {
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	p.SavedAs = "plan.tgz"
	if got, want := Command(p), "kubectl operator install --plan plan.tgz --yes --context=prod"; got != want {
		t.Errorf("saved: got %s\nwant %s", got, want)
	}
}

// An interrupted run is resumed by its digest, though no digest approves another plan.
func TestResumeCommand(t *testing.T) {
	p := unrepeatablePlan(t)
	want := "kubectl operator install ./chart --namespace databases --catalog registry.example.com/catalog:latest --install-mode AllNamespaces --certs generated --yes --approve sha256:run --ruleset " +
		strconv.Itoa(preview.Ruleset) + " --context=prod --set=size=2 --no-wait"
	if got := ResumeCommand(p, "sha256:run"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	p.SavedAs = "plan.tgz"
	if got, want := ResumeCommand(p, "sha256:run"), "kubectl operator install --plan plan.tgz --yes --context=prod"; got != want {
		t.Errorf("saved: got  %s\nwant %s", got, want)
	}
	p.SavedAs, p.Request.Reference = "", ""
	if got := ResumeCommand(p, "sha256:run"); got != "" {
		t.Errorf("a plan whose source and file are not known is resumed by %s", got)
	}
}

func TestCommand(t *testing.T) {
	all := plans(t)
	from := *all["fresh-install"]
	from.Request.Reference = ""
	uninstall := *all["upgrade"]
	uninstall.Request.Action = preview.RequestUninstall
	for _, tt := range []struct {
		name string
		plan *preview.Plan
		want string
	}{
		{"an offline plan is approved by content", all["offline"],
			"install './bundle dir' --namespace databases --install-mode AllNamespaces --certs cert-manager --yes --approve CONTENT --ruleset RULESET"},
		{"unknowns are accepted by id", all["unknowns"],
			"install mongodb second --namespace databases --version '>=1.8' --channel stable --catalog registry.example.com/catalog:latest" +
				" --install-mode AllNamespaces --certs cert-manager --yes --approve REVIEW --ruleset RULESET" +
				" --accept unknown/admissionregistration.k8s.io/ValidatingWebhookConfiguration/-/mongodb"},
		{"choices are repeated", all["upgrade"],
			"upgrade mongodb mongodb --namespace databases --version '>=1.8' --channel stable --catalog registry.example.com/catalog:latest" +
				" --install-mode AllNamespaces --certs cert-manager --conflicts take --yes --approve REVIEW --ruleset RULESET"},
		{"an uninstall needs no reference", &uninstall,
			"uninstall mongodb --namespace databases --conflicts take --yes --approve REVIEW --ruleset RULESET"},
		{"of a plan that no other repeats there are two", unrepeatablePlan(t),
			"preview ./chart --namespace databases --catalog registry.example.com/catalog:latest --install-mode AllNamespaces --certs generated --context=prod --set=size=2 --out mongodb.tgz --plaintext-secrets &&\n" +
				"kubectl operator install --plan mongodb.tgz --yes --context=prod --no-wait"},
		{"a loaded plan does not say where it came from", &from, "install --plan PLANFILE --yes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := strings.NewReplacer("REVIEW", tt.plan.Digest, "CONTENT", tt.plan.ContentDigest, "RULESET", strconv.Itoa(preview.Ruleset)).Replace("kubectl operator " + tt.want)
			if got := Command(tt.plan); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}
