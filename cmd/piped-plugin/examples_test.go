package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	configv1 "github.com/pipe-cd/pipecd/pkg/configv1"

	"github.com/kubectl-operator/kubectl-operator/preview/pipecd"
)

// The configuration of piped is one that piped takes, and what it hands to this plugin one
// that this plugin takes.
func TestTheExampleOfPiped(t *testing.T) {
	read, err := configv1.LoadFromYAML[*configv1.PipedSpec](filepath.Join("..", "..", "testdata", "examples", "pipecd", "piped.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(read.Spec.Plugins, func(p configv1.PipedPlugin) bool { return p.Name == pipecd.Plugin })
	if i < 0 {
		t.Fatalf("plugins %+v", read.Spec.Plugins)
	}
	own := read.Spec.Plugins[i]
	if !strings.HasSuffix(own.URL, "/piped-plugin") {
		t.Errorf("it starts %s", own.URL)
	}
	if err := json.Unmarshal(own.Config, &pluginConfig{}); err != nil {
		t.Error(err)
	}
	if err := json.Unmarshal(own.DeployTargets[0].Config, &targetConfig{}); err != nil {
		t.Error(err)
	}
	if got := own.DeployTargets[0].Name; got != "production" {
		t.Errorf("the deploy target is %s", got)
	}
}

// The application is one that piped takes, with stages that this plugin has, and a request
// that it reads. That of the stage SCRIPT_RUN is run by testdata/script/shared/pipecd.txtar.
func TestTheExampleOfAnApplication(t *testing.T) {
	path := filepath.Join("..", "..", "testdata", "examples", "pipecd", "argocd", "app.pipecd.yaml")
	read, err := configv1.LoadFromYAML[*configv1.GenericApplicationSpec](path)
	if err != nil {
		t.Fatal(err)
	}
	for _, stage := range read.Spec.Pipeline.Stages {
		if name := string(stage.Name); !slices.Contains(pipecd.OwnStages(), name) {
			t.Errorf("%s is none of %q", name, pipecd.OwnStages())
		}
	}
	s, err := newPlugin("v0").newSession(&deployTarget{})
	if err != nil {
		t.Fatal(err)
	}
	s.Read.Offline = true
	request, err := s.ReadRequest(t.Context(), path, "")
	if err != nil || request.Text != "quay.io/operatorhubio/argocd-operator:v0.7.0" {
		t.Errorf("it asks for %s, %v", request.Text, err)
	}
}
