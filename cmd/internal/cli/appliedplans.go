package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/atomicfile"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/source/diskcache"
)

// The bounds of the list of applied plans. Older plans are forgotten.
const (
	maxAppliedBytes = 1 << 20
	keptApplied     = 4096
)

// appliedPlans lists the saved plans that this machine has applied, by digest and
// cluster, in the user's state directory. Normally the record in the cluster keeps
// a plan from being applied twice. If the record was deleted and the cluster is
// again as it was reviewed, a deploy job with an old plan file would restore what
// was removed, with approvals that are still valid: this list refuses that. On
// other machines only the expiry in the plan (--expires) does.
type appliedPlans struct{ path string }

// newAppliedPlans returns the list of this user: the file applied-plans in
// [diskcache.StateDir].
func newAppliedPlans(getenv func(string) string) (appliedPlans, error) {
	dir, err := diskcache.StateDir(getenv)
	if err != nil {
		return appliedPlans{}, err
	}
	return appliedPlans{filepath.Join(dir, "applied-plans")}, nil
}

// AppliedAt returns when a plan was applied on this machine, empty if the list
// does not have it or cannot be read.
func (l appliedPlans) AppliedAt(p *preview.Plan) string {
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

// Add adds a plan that was applied at a time to the list.
func (l appliedPlans) Add(p *preview.Plan, at time.Time) error {
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return err
	}
	lines, err := l.read()
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	lines = lines[max(0, len(lines)-keptApplied+1):]
	lines = append(lines, fmt.Sprintf("%s %s %s", p.Digest, p.Target.Identity, at.UTC().Format(time.RFC3339)))
	return atomicfile.Write(l.path, []byte(strings.TrimSpace(strings.Join(lines, "\n"))+"\n"), 0o600)
}
