package cli

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
)

// ownPlatform is the one whose files are planned here: this machine's, or the
// one that was asked for. Of a set for other platforms alone it is the first.
func (p *planner) ownPlatform(set *plugins.Set, f pluginFlags) (string, error) {
	own := runtime.GOOS + "/" + runtime.GOARCH
	switch p.source.platform {
	case "":
		return own, nil
	case plugins.AllPlatforms:
	default:
		return p.source.platform, nil
	}
	lock, err := readLock(f.lockPath(), set, false)
	if err != nil {
		return "", fmt.Errorf("lock file %s: %w", f.lockPath(), err)
	}
	all := set.Platforms(lock, own)
	if slices.Contains(all, own) {
		return own, nil
	}
	return all[0], nil
}

// addPlatforms makes a plan one for every platform that the set and its lock
// name, and locks them all.
func (p *planner) addPlatforms(ctx context.Context, plan *preview.Plan, set *plugins.Set, f pluginFlags, fresh *plugins.Lock, progress func(string)) error {
	lock, err := readLock(f.lockPath(), set, false)
	if err != nil {
		return fmt.Errorf("lock file %s: %w", f.lockPath(), err)
	}
	var others []plugins.OnPlatform
	for _, platform := range set.Platforms(lock, plan.Platform) {
		if platform == plan.Platform {
			continue
		}
		fetched, locked, err := p.fetchSet(ctx, set, f, platform, progress)
		if err != nil {
			return fmt.Errorf("platform %s: %w", platform, err)
		}
		fresh.Platforms[platform] = locked.Platforms[platform]
		others = append(others, plugins.OnPlatform{Platform: platform, Fetched: fetched})
	}
	return plugins.AddPlatforms(plan, set, others)
}

// resolveExecutors looks up what the tags of the images that plugins run in
// stand for now, where that was asked for. It is shown, and part of no digest:
// the files and the config name the tag.
func (p *planner) resolveExecutors(ctx context.Context, plan *preview.Plan, progress func(string)) error {
	if !p.render.pinImages {
		return nil
	}
	r, err := p.resolver(progress)
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
func (r *resolver) imageDigest(ctx context.Context, image string) (string, error) {
	full, _, err := r.pinImage(ctx, image)
	if err != nil {
		return "", err
	}
	return full[len(image)+1:], nil
}
