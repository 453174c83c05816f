package plugins

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// PlanClean lists the files of the generations that are older than the newest
// keep before the current one. Generation 0 is not this tool's and stays. The
// plan is neither judged nor sealed yet.
func PlanClean(ctx context.Context, location string, keep int) (*preview.Plan, error) {
	current, receipt, err := currentOf(location)
	if err != nil {
		return nil, err
	}
	all, err := numbers(location)
	if err != nil {
		return nil, err
	}
	var old []int
	for _, n := range slices.Backward(all) {
		if what, _ := leftoverOf(location, strconv.Itoa(n), current); n == 0 || n == current || what == begun {
			continue // the last is what an interrupted run left: the next one removes it
		}
		old = append(old, n)
	}
	old = old[min(keep, len(old)):]
	files, err := doomedFiles(ctx, location, old)
	if err != nil {
		return nil, err
	}
	p := &preview.Plan{
		Release: preview.Release{Name: receipt.Set}, ReadMode: preview.ReadOffline, Options: preview.DefaultOptions(),
		Request: preview.Request{Action: preview.RequestClean, Keep: &keep}, Platform: receipt.Platform,
		Location:   &preview.Location{Path: location + generationsSuffix, Host: HostID()},
		Generation: &preview.Generation{From: current, To: current},
	}
	for path, live := range files {
		p.Files = append(p.Files, preview.File{Path: path, Action: preview.ActionDelete, Live: live})
	}
	slices.SortFunc(p.Files, func(a, b preview.File) int { return strings.Compare(a.Path, b.Path) })
	return p, nil
}

// currentOf is the generation that the host finds, with its receipt.
func currentOf(location string) (int, *Receipt, error) {
	info, err := os.Lstat(location)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		return 0, nil, fmt.Errorf("nothing is installed at %s; plugin install puts a set there", location)
	}
	current, err := generationOf(location)
	if err != nil {
		return 0, nil, err
	}
	receipt, err := ReadReceipt(location, current)
	if err != nil {
		return 0, nil, fmt.Errorf("generation %d at %s: %w", current, location, err)
	}
	return current, receipt, nil
}

// doomed are the generations that a clean removes.
func doomed(plan *preview.Plan) []int {
	var out []int
	for _, f := range plan.Files {
		number, _, _ := strings.Cut(f.Path, "/")
		if n, err := strconv.Atoi(number); err == nil && n > 0 && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// doomedFiles are all files in the folders of generations, those beside what the
// host loads too, by path below the folder of all.
func doomedFiles(ctx context.Context, location string, generations []int) (map[string]preview.LiveFile, error) {
	out := map[string]preview.LiveFile{}
	for _, n := range generations {
		in := map[string]preview.LiveFile{}
		dir := filepath.Join(location+generationsSuffix, strconv.Itoa(n))
		if err := readFiles(ctx, dir, in); err != nil {
			return nil, fmt.Errorf("reading generation %d: %w", n, err)
		}
		for name, live := range in {
			out[path.Join(strconv.Itoa(n), name)] = live
		}
	}
	return out, nil
}

// removeGenerations removes what was reviewed, a generation at a time: it is
// out of sight by one rename, and a run that stops in between is finished by the
// next one.
func (r *run) removeGenerations(ctx context.Context) error {
	p := r.place
	for _, n := range doomed(r.plan) {
		if err := ctx.Err(); err != nil {
			return r.failed(err)
		}
		if n == r.plan.Generation.From {
			return r.failed(fmt.Errorf("generation %d is the current one", n))
		}
		r.switched = true
		if err := p.clear(strconv.Itoa(n)); err != nil {
			return r.failed(err)
		}
		r.emit(install.Event{Type: install.EventObject, Object: "generation/" + strconv.Itoa(n), State: install.StateRemoved})
	}
	if err := p.sync(p.generations()); err != nil {
		return r.failed(err)
	}
	return nil
}
