package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pipe-cd/pipecd/pkg/model"
	sdk "github.com/pipe-cd/piped-plugin-sdk-go"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview/approval"
	"github.com/kubectl-operator/kubectl-operator/preview/pipecd"
	"github.com/kubectl-operator/kubectl-operator/preview/planfile"
)

// signer makes a key and writes the file of approvers that names it.
func signer(t *testing.T, file string) *approval.Key {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(private.Public())
	if err != nil {
		t.Fatal(err)
	}
	key, err := approval.ReadKey(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "kubectl-operator/v1alpha1", "kind": approval.KindApprovers, "approvers": []any{
		map[string]any{"name": "alice", "users": []string{"alice"}, "key": string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}))},
	}})
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// Where the configuration of the plugin requires signed approvals, no plan is applied
// without them, whatever piped's own users say.
func TestClusterSignedApprovalsAreRequired(t *testing.T) {
	t.Parallel() // the SDK waits seconds for the log of each stage
	box := sandboxtest.Start(t)
	p := newPiped(t)
	dir := t.TempDir()
	key := signer(t, filepath.Join(dir, "approvers.json"))
	config := fmt.Sprintf(`{"requireApprovals": 1, "approvers": %q, "plans": %q}`, filepath.Join(dir, "approvers.json"), dir)
	plugin := startPlugin(t, p, config, box.Kubeconfig())
	app := application{t, "signed"}
	source := app.commit(strings.Replace(settingsApplication, "settings", "signed", 1), nil, map[string]string{"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: signed-of-piped}\n"})
	d := app.deployment("signed")
	p.approve()
	if said := plugin.must(t, p, d, pipecd.StagePlan, source); !strings.Contains(said, "kubectl operator approve "+dir) {
		t.Errorf("the plan says %s", said)
	}
	if got, err := plugin.run(t.Context(), d, pipecd.StageApply, source); err != nil || got != model.StageStatus_STAGE_FAILURE || !strings.Contains(p.said(t, "signed/"+pipecd.StageApply), "0 of 1 approvals") {
		t.Errorf("unsigned: %s, %v\n%s", got, err, p.said(t, "signed/"+pipecd.StageApply))
	}
	plans, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(plans) != 1 {
		t.Fatalf("plans %v, %v", plans, err)
	}
	s, err := newPlugin("v0").newSession(&deployTarget{})
	if err != nil {
		t.Fatal(err)
	}
	saved, err := s.Saved().Load(t.Context(), plans[0], planfile.Keys{})
	if err != nil {
		t.Fatal(err)
	}
	signed, err := approval.Sign(approval.NewStatement(saved.Plan, saved.FileSHA256), key, time.Now(), time.Hour)
	if err == nil {
		_, err = s.Saved().KeepApproval(t.Context(), saved, signed)
	}
	if err != nil {
		t.Fatal(err)
	}
	if said := plugin.must(t, p, d, pipecd.StageWaitApproval, source); !strings.Contains(said, "signed by alice") {
		t.Errorf("approved: %s", said)
	}
	plugin.must(t, p, d, pipecd.StageApply, source)
}

// An error of a configuration is one sentence.
func TestConfigurationsThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"requireApprovals": 1}`:  "requireApprovals needs approvers",
		`{"requireApprovals": -1}`: "requireApprovals is less than 0",
		`{"require": 1}`:           `unknown field "require"`,
	} {
		if err := json.Unmarshal([]byte(text), &pluginConfig{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if err := json.Unmarshal([]byte(`{"kubeConfigPath": "x"}`), &targetConfig{}); err == nil || !strings.Contains(err.Error(), "the config of a deploy target") {
		t.Errorf("a deploy target: %v", err)
	}
	for text, want := range map[string]string{
		`{"approver": []}`: "unknown field", `{"minApproverNum": -1}`: "less than 0", `{"approvers": ["a"], "minApproverNum": 2}`: "2 of 1 approvers",
	} {
		_, err := newPlugin("v0").BuildPipelineSyncStages(t.Context(), nil, &sdk.BuildPipelineSyncStagesInput{Request: sdk.BuildPipelineSyncStagesRequest{
			Stages: []sdk.StageConfig{{Name: pipecd.StageWaitApproval, Config: []byte(text)}},
		}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// A log shows what comes from packages as text, and never acts on a terminal.
func TestLogsAreEscaped(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb\n":                        "a\nb",
		"red \x1b[31m and \r\x07 so":    "",
		strings.Repeat("x", maxBlock+9): "(the rest is left out; the command line shows it)",
	} {
		got := escaped(text)
		if strings.ContainsAny(got, "\x1b\r\x07") || !strings.Contains(got, want) || len(got) > maxBlock+100 {
			t.Errorf("%.40q is logged as %.60q", text, got)
		}
	}
}
