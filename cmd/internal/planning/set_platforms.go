package planning

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
)

// platforms are those that a set is planned for, sorted, and the one of them
// whose files are shown as the plan's own: this machine's or that of the pods,
// which is own, or else the first. Only those count that begin with system.
func (p SetPlanner) platforms(set *plugins.Set, f SetOptions, own, system string) (first string, all []string, err error) {
	if err := p.Source.checkPlatforms(); err != nil {
		return "", nil, err
	}
	switch asked := p.Source.Platform; asked {
	case "":
		return own, []string{own}, nil
	case plugins.AllPlatforms:
		lock, err := readLock(f.lockPath(), set, false)
		if err != nil {
			return "", nil, fmt.Errorf("lock file %s: %w", f.lockPath(), err)
		}
		all = set.Platforms(lock, own)
	default:
		all = strings.Split(asked, ",")
	}
	slices.Sort(all)
	all = slices.DeleteFunc(slices.Compact(all), func(one string) bool { return !strings.HasPrefix(one, system) })
	switch {
	case len(all) == 0:
		return "", nil, Usagef("--platform %s: the pods of the host run on %s...", p.Source.Platform, system)
	case slices.Contains(all, own):
		return own, all, nil
	}
	return all[0], all, nil
}

// fetchPlatforms fetches a set for every platform, first, which is one of them,
// first, and locks them all.
func (p SetPlanner) fetchPlatforms(ctx context.Context, set *plugins.Set, f SetOptions, first string, all []string, progress func(string)) ([]plugins.OnPlatform, *plugins.Lock, error) {
	fetched, fresh, err := p.fetchSet(ctx, set, f, first, progress)
	if err != nil {
		return nil, nil, err
	}
	out := []plugins.OnPlatform{{Platform: first, Fetched: fetched}}
	for _, platform := range all {
		if platform == first {
			continue
		}
		fetched, locked, err := p.fetchSet(ctx, set, f, platform, progress)
		if err != nil {
			return nil, nil, fmt.Errorf("platform %s: %w", platform, err)
		}
		fresh.Platforms[platform] = locked.Platforms[platform]
		out = append(out, plugins.OnPlatform{Platform: platform, Fetched: fetched})
	}
	return out, fresh, nil
}

// resolveExecutors looks up what the tags of the images that plugins run in
// stand for now, where that was asked for. It is shown, and part of no digest:
// the files and the config name the tag.
func (p SetPlanner) resolveExecutors(ctx context.Context, plan *preview.Plan, progress func(string)) error {
	if !p.Render.PinImages {
		return nil
	}
	r, err := p.Resolver(progress)
	if err != nil {
		return err
	}
	if len(plan.Images) > maxPinned {
		return fmt.Errorf("--pin-images: the plugins name %d images; at most %d are looked up", len(plan.Images), maxPinned)
	}
	for i := range plan.Images {
		image := &plan.Images[i]
		if image.Pinned {
			continue
		}
		if image.Digest, err = r.imageDigest(ctx, image.Reference); err != nil {
			return fmt.Errorf("--pin-images: %w", err)
		}
	}
	return nil
}

// imageDigest is what a tag stands for now.
func (r *Resolver) imageDigest(ctx context.Context, image string) (string, error) {
	full, _, err := r.pinImage(ctx, image)
	if err != nil {
		return "", err
	}
	return full[len(image)+1:], nil
}
