package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/source/diskcache"
)

// keptFor is how long the plan of a deployment is kept that was neither applied nor taken
// back: one that was cancelled, or whose approval never came. A deployment that goes on
// later makes its plan anew.
const keptFor = 30 * 24 * time.Hour

// keptDir returns the directory of the plans that are kept on this machine, and makes it.
func keptDir() (string, error) {
	state, err := diskcache.StateDir(os.Getenv)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(state, "piped-plans")
	return dir, os.MkdirAll(dir, 0o700)
}

// keep saves the plan on this machine alone, with the values that another plan would not
// have, such as generated certificates, and returns where. It is deleted once it is applied
// or taken back, and one of an earlier try of the deployment now.
func (r *stageRun) keep(ctx context.Context, s *session, before notes, plan *preview.Plan) (string, error) {
	dir, err := keptDir()
	if err != nil {
		return "", err
	}
	kept, err := r.save(ctx, s, plan, planning.SaveOptions{To: r.placeOf(dir, s.target, plan), PlaintextSecrets: true})
	if err == nil && before.Kept != kept {
		before.dropKept()
	}
	cleanKept(dir, time.Now())
	return kept, err
}

// dropKept deletes the plan that was kept on this machine, if it is there.
func (n notes) dropKept() {
	if n.Kept != "" {
		_ = os.Remove(n.Kept) // what stays goes with its age
	}
}

// cleanKept deletes the plans in a directory that are older than [keptFor].
func cleanKept(dir string, now time.Time) {
	plans, _ := filepath.Glob(filepath.Join(dir, "*.tgz")) // the pattern is one
	for _, plan := range plans {
		if info, err := os.Stat(plan); err == nil && now.Sub(info.ModTime()) > keptFor {
			_ = os.Remove(plan) // it is tried again with the next plan
		}
	}
}
