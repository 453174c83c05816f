package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/wholefile"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// The bounds of the list of applied plans. What is older is forgotten.
const (
	maxAppliedBytes = 1 << 20
	keptApplied     = 4096
)

// appliedPlans lists the saved plans that were applied from this machine, by
// digest and cluster, in the user's state directory. What keeps a plan from being
// applied twice is the record in the cluster. A record can go, with its namespace or
// by the hand of a user who may write Secrets there, and then the cluster may be
// again as it was reviewed: a deploy job with the old file would bring back what was
// removed, with approvals that still count. Here the list refuses that; on a machine
// without the list only the end that --expires seals does.
type appliedPlans struct{ path string }

// appliedPlans is ${XDG_STATE_HOME:-~/.local/state}/kubectl-operator/applied-plans.
func (a *app) appliedPlans() (appliedPlans, error) {
	base := a.getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(base) { // the XDG specification says to ignore relative ones
		home, err := os.UserHomeDir()
		if err != nil {
			return appliedPlans{}, err
		}
		base = filepath.Join(home, ".local", "state")
	}
	return appliedPlans{filepath.Join(base, "kubectl-operator", "applied-plans")}, nil
}

// when returns when a plan was applied, empty when it is not in the list. A list
// that cannot be read holds nothing.
func (l appliedPlans) when(p *preview.Plan) string {
	lines, err := l.read()
	if err != nil {
		return ""
	}
	for _, line := range slices.Backward(lines) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == p.Digest && fields[1] == p.Target.Identity {
			if at, err := time.Parse(time.RFC3339, fields[2]); err == nil {
				return at.UTC().Format(time.RFC3339)
			}
		}
	}
	return ""
}

func (l appliedPlans) read() ([]string, error) {
	if info, err := os.Lstat(l.path); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, os.ErrInvalid)
	}
	file, err := os.Open(l.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxAppliedBytes))
	if err != nil {
		return nil, err
	}
	return strings.Split(string(bytes.TrimSpace(data)), "\n"), nil
}

// add notes that a plan was applied.
func (l appliedPlans) add(p *preview.Plan, at time.Time) error {
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return err
	}
	lines, err := l.read()
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	lines = lines[max(0, len(lines)-keptApplied+1):]
	lines = append(lines, fmt.Sprintf("%s %s %s", p.Digest, p.Target.Identity, at.UTC().Format(time.RFC3339)))
	return wholefile.Replace(l.path, []byte(strings.TrimSpace(strings.Join(lines, "\n"))+"\n"), 0o600)
}

// spent refuses a saved plan that this machine has applied where the cluster does
// not know of it any more. What the cluster knows of is judged there: it is
// resumed, or said to be applied already.
func (r *releaseRun) spent(ctx context.Context, p *preview.Plan) error {
	list, err := r.app.appliedPlans()
	if err != nil {
		return nil // no home, no list
	}
	when := list.when(p)
	if when == "" {
		return nil
	}
	record, err := record.Load(ctx, r.session.client, p.Release)
	if err != nil || record != nil && record.Digest == p.Digest {
		return nil // to be said by the checks of the apply itself
	}
	return refuse("the plan was applied from this machine at "+when+", and the cluster has no record of that any more",
		"preview again; approvals of the old plan do not count for a new one")
}

// noteApplied enters an applied plan into the list.
func (r *releaseRun) noteApplied(p *preview.Plan) {
	list, err := r.app.appliedPlans()
	if err == nil {
		err = list.add(p, time.Now())
	}
	if err != nil {
		fmt.Fprintf(r.app.streams.HumanErr(), "not noted on this machine that the plan was applied: %v; only its record in the cluster keeps it from being applied again\n", err)
	}
}
