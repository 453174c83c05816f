package engine_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
)

func setFile(path, mode, text string) plugins.File {
	sum := sha256.Sum256([]byte(text))
	return plugins.File{Path: path, Mode: mode, Data: []byte(text), SHA256: hex.EncodeToString(sum[:]), Origin: "https://example.com/neo.tgz " + path}
}

// setPlan is the plan of a plugin set with a file of every action, findings and
// another config than before.
func setPlan(t *testing.T) *preview.Plan {
	t.Helper()
	same := setFile("same", "0644", "same\n")
	files := []plugins.File{setFile("changed", "0755", "#!/bin/sh\nnew\n"), setFile("new", "4755", "#!/bin/sh\n"), same}
	p, err := plugins.PlanFiles(plugins.FileOwner{
		Name: "optimus", Version: "1.2.0", Format: preview.FormatPlugins + "optimus", Values: preview.HashBytes([]byte("values")),
		Config: &plugins.Config{Name: "optimus", Values: map[string]any{"plugins": map[string]any{"neo": map[string]any{"image": "docker.io/org/neo:2"}}}},
	}, files, plugins.Target{
		Platform: "linux/amd64", Location: preview.Location{Path: "/srv/.plugins", Host: "0123456789abcdef"},
		InstalledFiles: plugins.InstalledFiles{Generation: 3, Next: 5, Files: map[string]preview.LiveFile{
			"same": {SHA256: same.SHA256, Mode: same.Mode}, "changed": {SHA256: same.SHA256, Mode: "0644"}, "gone": {SHA256: same.SHA256, Mode: "0600"},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func finished(t *testing.T, p *preview.Plan) *preview.Plan {
	t.Helper()
	if err := engine.Finish(p, k8s.NewSchemas()); err != nil {
		t.Fatal(err)
	}
	return p
}

// rollbackOfSet is one that brings back generation 0, cleanOfSet one that
// removes generations.
func rollbackOfSet(t *testing.T) *preview.Plan {
	p, zero := setPlan(t), 0
	p.Generation.Restores = &zero
	p.Request = preview.Request{Action: preview.RequestRollback}
	return finished(t, p)
}

func cleanOfSet(t *testing.T) *preview.Plan {
	full := setPlan(t)
	return finished(t, &preview.Plan{
		Release: full.Release, ReadMode: full.ReadMode, Options: full.Options, Platform: full.Platform,
		Request: preview.Request{Action: preview.RequestClean}, Location: full.Location, Generation: &preview.Generation{From: 3, To: 3},
		Files: []preview.File{{Path: "1/files/a", Action: preview.ActionDelete, Live: full.Files[0].Live}},
	})
}

func installOfSet(t *testing.T) *preview.Plan {
	p := setPlan(t)
	p.Request = preview.Request{Action: preview.RequestInstall, File: "plugins.yaml"}
	return finished(t, p)
}

// Every leaf of the saved plan of a plugin set is changed in turn: it is refused,
// or what would be displayed is the same.
func TestSlowEveryTamperedLeafOfASetIsRefusedOrNotShown(t *testing.T) {
	slowtest.Skip(t, "hundreds of tampered plans")
	for name, plan := range map[string]*preview.Plan{"install": installOfSet(t), "rollback": rollbackOfSet(t), "clean": cleanOfSet(t)} {
		t.Run(name, func(t *testing.T) { tamperEveryLeaf(t, plan) })
	}
}

func TestForgedPlansOfSetsWithRightHashesAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name  string
		plan  func(*testing.T) *preview.Plan
		forge func(*preview.Plan)
	}{
		{"a file that is there and would be created", installOfSet, func(p *preview.Plan) { file(p, "changed").Action = preview.ActionCreate }},
		{"a file that changes and is called unchanged", installOfSet, func(p *preview.Plan) {
			file(p, "changed").Action, file(p, "changed").Changes = preview.ActionUnchanged, nil
		}},
		{"a file listed twice", installOfSet, func(p *preview.Plan) { p.Files = append(p.Files, p.Files[0]) }},
		{"a generation that does not follow", installOfSet, func(p *preview.Plan) { p.Generation.To = 3 }},
		{"a generation before the installed one", installOfSet, func(p *preview.Plan) { p.Generation.To = 2 }},
		{"a generation that restores itself", rollbackOfSet, func(p *preview.Plan) { to := p.Generation.To; p.Generation.Restores = &to }},
		{"a generation that restores one below 0", rollbackOfSet, func(p *preview.Plan) { below := -1; p.Generation.Restores = &below }},
		{"a clean that writes a file", cleanOfSet, func(p *preview.Plan) {
			p.Files[0].Action, p.Files[0].SHA256, p.Files[0].Mode, p.Files[0].Live = preview.ActionCreate, p.Files[0].Live.SHA256, "0755", preview.LiveFile{}
		}},
		{"a clean that switches", cleanOfSet, func(p *preview.Plan) { p.Generation.To = 1 }},
		{"a clean that restores", cleanOfSet, func(p *preview.Plan) { one := 1; p.Generation.Restores = &one }},
		{"no location", installOfSet, func(p *preview.Plan) { p.Location = nil }},
		{"files without a set", installOfSet, func(p *preview.Plan) { p.Platform = "" }},
		{"a package of another name", installOfSet, func(p *preview.Plan) { p.Release.Name = "other" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := tt.plan(t)
			tt.forge(p)
			for i := range p.Packages {
				digest, err := preview.SetDigest(p, p.Packages[i])
				if err != nil {
					t.Fatal(err)
				}
				p.Packages[i].ContentDigest = digest
			}
			if err := engine.Derive(p, k8s.NewSchemas()); err != nil {
				t.Fatal(err)
			}
			if err := p.Seal(); err != nil {
				t.Fatal(err)
			}
			_, _, err := engine.Verify(reload(t, encode(t, p)), k8s.NewSchemas())
			if _, refused := errors.AsType[*engine.RefusedError](err); !refused {
				t.Errorf("%v, want a refusal", err)
			}
			t.Log(err)
		})
	}
}

func file(p *preview.Plan, path string) *preview.File {
	for i := range p.Files {
		if p.Files[i].Path == path {
			return &p.Files[i]
		}
	}
	return nil
}
