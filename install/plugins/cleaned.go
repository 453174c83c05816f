package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// KindCleanReceipt is the kind of the receipt of a clean: the deletion of the
// files of earlier generations.
const KindCleanReceipt = "PluginCleanReceipt"

// cleanFile is the file with the receipt of the last clean, in the directory of
// the generations. It is written before the first generation is deleted, so
// that the digest of an interrupted clean can resume it.
const cleanFile = "clean.json"

// generationNumbers returns the numbers of the generations that a plan deletes.
func generationNumbers(paths []string) []int {
	var out []int
	for _, p := range paths {
		if n := generationIn(p); n > 0 && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// generationIn returns the number of the generation that a path begins with. It
// is 0, which is never deleted, for any other path.
func generationIn(p string) int {
	number, _, _ := strings.Cut(p, "/")
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || strconv.Itoa(n) != number {
		return 0
	}
	return n
}

// filesToRemove hashes all files in the directories of some generations, including
// files that the host does not load. A missing generation has no files.
func filesToRemove(ctx context.Context, location string, generations []int) (map[string]preview.LiveFile, error) {
	out := map[string]preview.LiveFile{}
	for _, n := range generations {
		in := map[string]preview.LiveFile{}
		dir := filepath.Join(location+generationsSuffix, strconv.Itoa(n))
		if err := readFiles(ctx, dir, in); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("reading generation %d: %w", n, err)
		}
		for name, live := range in {
			out[path.Join(strconv.Itoa(n), name)] = live
		}
	}
	return out, nil
}

// readClean reads the receipt of the last clean; nil if there is none or it cannot
// be read.
func readClean(location string) *Receipt {
	data, err := readSmall(filepath.Join(location+generationsSuffix, cleanFile))
	if err != nil {
		return nil
	}
	r := &Receipt{}
	if err := json.Unmarshal(data, r); err != nil || r.Kind != KindCleanReceipt || r.APIVersion != preview.APIVersion {
		return nil
	}
	return r
}

// newCleanReceipt returns the receipt of a clean that is about to begin.
func newCleanReceipt(plan *preview.Plan, approval record.Approval, tool string, now time.Time) *Receipt {
	return &Receipt{
		APIVersion: preview.APIVersion, Kind: KindCleanReceipt, Generation: plan.Generation.From, From: plan.Generation.From,
		State: StatePending, Location: *plan.Location, Set: plan.Release.Name, Platform: plan.Platform, Digest: plan.Digest, ContentDigest: plan.ContentDigest,
		Approval: approval, Tool: tool, Started: now, Files: []ReceiptFile{}, Removed: removedFiles(plan),
	}
}

// IsClean reports whether the receipt comes from clean, and not from an installed
// generation.
func (r *Receipt) IsClean() bool { return r.Kind == KindCleanReceipt }

// RemovedGenerations returns the generations that a clean deletes, from its
// receipt.
func (r *Receipt) RemovedGenerations() []int {
	var paths []string
	for _, f := range r.Removed {
		paths = append(paths, f.Path)
	}
	return generationNumbers(paths)
}

// remainingFiles returns the files of the generations that a clean has not
// deleted yet: seen as the review saw them, there as they are on disk.
func (r *Receipt) remainingFiles(ctx context.Context, location string) (seen, there map[string]preview.LiveFile, err error) {
	all, err := generationsOnDisk(location)
	if err != nil {
		return nil, nil, err
	}
	var still []int
	for _, n := range r.RemovedGenerations() {
		if slices.Contains(all, n) {
			still = append(still, n)
		}
	}
	seen = map[string]preview.LiveFile{}
	for _, f := range r.Removed {
		if slices.Contains(still, generationIn(f.Path)) {
			seen[f.Path] = preview.LiveFile{SHA256: f.SHA256, Mode: f.Mode}
		}
	}
	there, err = filesToRemove(ctx, location, still)
	return seen, there, err
}

// leftoverOfClean returns the receipt of an interrupted clean that has deleted
// all its generations, but was not marked as complete. A clean with generations
// left is resumed by its approved digest, and is no leftover.
func leftoverOfClean(location string) (leftover, *Receipt) {
	receipt := readClean(location)
	if receipt == nil || receipt.State != StatePending {
		return whole, nil
	}
	all, err := generationsOnDisk(location)
	if err != nil || slices.ContainsFunc(receipt.RemovedGenerations(), func(n int) bool { return slices.Contains(all, n) }) {
		return whole, nil // the digest that was approved goes on with it, and no other
	}
	return emptied, receipt
}

// markCleaned writes into the receipt of a clean that the clean is complete.
func (p *locationRoot) markCleaned(receipt *Receipt) error {
	receipt.State = StateCleaned
	return p.noteClean(receipt)
}

func (p *locationRoot) noteClean(receipt *Receipt) error {
	data, err := receipt.Encode()
	if err != nil {
		return err
	}
	return p.replace(p.siblingPath(cleanFile), data)
}

// removeGenerations deletes the generations that a clean's receipt names, and
// calls gone after each. Each is renamed first, so that an interruption leaves
// no incomplete generation under its number.
func (p *locationRoot) removeGenerations(ctx context.Context, receipt *Receipt, gone func(n int)) error {
	all, err := generationsOnDisk(p.location)
	if err != nil {
		return err
	}
	for _, n := range receipt.RemovedGenerations() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if n == receipt.Generation {
			return fmt.Errorf("generation %d is the current one", n)
		}
		if slices.Contains(all, n) {
			if err := p.clear(strconv.Itoa(n)); err != nil {
				return err
			}
		}
		gone(n)
	}
	return p.sync(p.generations())
}

// removeGenerations deletes the reviewed generations. The receipt is written
// before the first one and completed after the last.
func (r *applier) removeGenerations(ctx context.Context) error {
	now := r.o.Now().UTC()
	r.receipt = newCleanReceipt(r.plan, r.approval, r.o.Tool, now)
	if begun := r.interruptedClean(); begun != nil {
		r.receipt.Started, r.switched = begun.Started, true
	}
	if err := r.place.noteClean(r.receipt); err != nil {
		return r.failed(err)
	}
	r.switched = true
	err := r.place.removeGenerations(ctx, r.receipt, func(n int) {
		r.emit(install.Event{Type: install.EventObject, Object: "generation/" + strconv.Itoa(n), State: record.StateRemoved})
	})
	if err != nil {
		return r.failed(err)
	}
	r.receipt.Finished = r.o.Now().UTC()
	if err := r.place.markCleaned(r.receipt); err != nil {
		return r.failed(fmt.Errorf("writing the receipt: %w", err))
	}
	return nil
}

// interruptedClean returns the receipt of an interrupted run of the same clean,
// nil if there is none.
func (r *applier) interruptedClean() *Receipt {
	receipt := readClean(location(r.plan))
	if receipt == nil || receipt.Digest != r.plan.Digest || receipt.State != StatePending {
		return nil
	}
	return receipt
}

// checkClean returns how the generations that a plan deletes differ from what the plan
// saw. Those that an interrupted run of the same plan has deleted may be missing.
func (r *applier) checkClean(ctx context.Context) ([]string, error) {
	at := location(r.plan)
	if done := readClean(at); done != nil && done.Digest == r.plan.Digest && done.State == StateCleaned {
		return nil, refuseAppliedClean(done, at)
	}
	if begun := r.interruptedClean(); begun != nil {
		seen, there, err := newCleanReceipt(r.plan, r.approval, "", begun.Started).remainingFiles(ctx, at)
		return differences(seen, there), err
	}
	seen := map[string]preview.LiveFile{}
	for _, f := range r.plan.Files {
		seen[f.Path] = f.Live
	}
	there, err := filesToRemove(ctx, at, generationNumbers(slices.Collect(maps.Keys(seen))))
	return differences(seen, there), err
}

// refuseAppliedClean returns the error for the plan of a clean that is complete
// already: a plan is applied once.
func refuseAppliedClean(receipt *Receipt, location string) error {
	return &install.Error{
		Kind: install.Refused, Operation: "checking the clean of " + receipt.Set,
		Cause: "already applied: the last clean at " + location + " is this plan", Advice: "preview again",
	}
}

// resumeClean resumes an interrupted clean whose digest is approved. It returns
// nil if the last clean has another digest.
func resumeClean(ctx context.Context, location, digest string, o Options) (*Receipt, error) {
	receipt := readClean(location)
	switch {
	case receipt == nil || receipt.Digest != digest:
		return nil, nil
	case receipt.State != StatePending:
		return nil, refuseAppliedClean(receipt, location)
	}
	return receipt, withLock(location, o, func(p *locationRoot) error { return continueClean(ctx, p, receipt, o) })
}

func continueClean(ctx context.Context, place *locationRoot, receipt *Receipt, o Options) error {
	at := place.location
	if err := place.sweep(at); err != nil {
		return err
	}
	reasons := []string{}
	if current, err := currentNumber(at); err != nil || current != receipt.Generation {
		reasons = append(reasons, fmt.Sprintf("generation %d is installed now, and %d was when it was reviewed", current, receipt.Generation))
	}
	seen, there, err := receipt.remainingFiles(ctx, at)
	if err != nil {
		return err
	}
	if reasons = append(reasons, differences(seen, there)...); len(reasons) > 0 {
		return &install.Error{
			Kind: install.Refused, Operation: "comparing " + at + generationsSuffix + " with what was reviewed",
			Cause: joinReasons(reasons), Advice: "preview again, and approve that", Reasons: reasons,
		}
	}
	if err := place.removeGenerations(ctx, receipt, func(int) {}); err != nil {
		return err
	}
	receipt.Finished = o.Now().UTC()
	return place.markCleaned(receipt)
}
