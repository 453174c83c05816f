package plugins

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// PlanClean plans to delete the files of earlier generations, except the newest
// keep of them. Generation 0, the files from before the first install, stays. The
// returned plan has neither findings nor digests yet.
func PlanClean(ctx context.Context, location string, keep int) (*preview.Plan, error) {
	current, receipt, err := currentOf(location)
	if err != nil {
		return nil, err
	}
	all, err := generationsOnDisk(location)
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
	files, err := filesToRemove(ctx, location, old)
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

// currentOf returns the current generation, which the host loads, and its receipt.
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
