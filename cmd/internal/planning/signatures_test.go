package planning_test

import (
	"os"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/config"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
	"github.com/kubectl-operator/kubectl-operator/preview/verify"
)

// Who must have signed is decided before anything of the content is read.
func TestContentIsHeldToItsSigner(t *testing.T) {
	registry := sourcetest.Plain(t)
	image := push(t, registry, "org/mongodb:v1", os.DirFS(bundle(t, "mongodb", "1.10.0")))
	_, _, key := signer(t)
	prefix := registry.Host + "/org"
	for name, tt := range map[string]struct {
		signed     planning.SignatureOptions
		configured []config.Policy
		refused    string
		rule       string
	}{
		"without a signer nothing is asked": {},
		"required of content without a signature": {
			signed: planning.SignatureOptions{Signer: verify.Signer{Key: key}}, refused: "signature",
		},
		"if there is one": {
			signed: planning.SignatureOptions{Mode: "if-present", Signer: verify.Signer{Key: key}}, rule: rules.SignatureMissing.Name,
		},
		"required by the configuration, for what lies there": {
			configured: []config.Policy{{Prefix: prefix, Mode: "required", Key: key}}, refused: "signature",
		},
		"required by the configuration, for other places": {
			configured: []config.Policy{{Prefix: "registry.example.com/org", Mode: "required", Key: key}},
		},
		"the options win over the configuration": {
			signed: planning.SignatureOptions{Mode: "off"}, configured: []config.Policy{{Prefix: prefix, Mode: "required", Key: key}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := offline(t, config.Config{Verification: config.Verification{Policies: tt.configured}})
			p.Source.PlainHTTP, p.Signatures = true, tt.signed
			plan, err := planOf(t, p, image, "")
			switch {
			case tt.refused != "":
				if !isRefused(err, tt.refused) {
					t.Errorf("error = %v, want a refusal", err)
				}
			case err != nil:
				t.Error(err)
			case tt.rule != "" && notes(plan)[tt.rule] == "":
				t.Errorf("no note %s in %v", tt.rule, notes(plan))
			}
		})
	}
}

func TestSignersThatCannotBe(t *testing.T) {
	for name, signed := range map[string]planning.SignatureOptions{
		"a mode that there is not":       {Mode: "maybe"},
		"an identity without an issuer":  {Signer: verify.Signer{Identity: "a@example.com"}},
		"off, and who must have signed":  {Mode: "off", Signer: verify.Signer{Key: "key.pub"}},
		"a key and an identity together": {Signer: verify.Signer{Key: "key.pub", Identity: "a@example.com", Issuer: "https://example.com", TrustedRoot: "root.json"}},
	} {
		p := offline(t, config.Config{})
		p.Signatures = signed
		if _, err := planOf(t, p, bundle(t, "mongodb", "1.10.0"), ""); !isUsage(err, "") {
			t.Errorf("%s: error = %v", name, err)
		}
	}
}
