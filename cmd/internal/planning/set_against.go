package planning

import (
	"context"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
)

// against makes another config, or a lock, stand in for what is installed: the
// whole of it, or of a lock the artifacts alone.
func (p SetPlanner) against(ctx context.Context, text string, set *plugins.Set, target *plugins.Target, progress func(string)) (*preview.Against, error) {
	data, err := readAtMost(text, plugins.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("--against %s: %w", text, err)
	}
	if lock, err := plugins.ReadLock(data); err == nil {
		if err := lock.CheckName(set); err != nil {
			return nil, fmt.Errorf("--against %s: %w", text, err)
		}
		target.Lock = lock
		return &preview.Against{Reference: text, Package: lock.Name, ContentDigest: preview.HashBytes(lock.Encode())}, nil
	}
	older, err := p.pluginSet(text)
	if err != nil {
		return nil, fmt.Errorf("--against: %w", err)
	}
	if older.Name != set.Name {
		return nil, Usagef("--against %s is set %s, and the config is set %s; compare configs of one set", text, older.Name, set.Name)
	}
	fetched, _, err := p.fetchSet(ctx, older, SetOptions{Config: text}, target.Platform, progress)
	if err != nil {
		return nil, fmt.Errorf("--against %s: %w", text, err)
	}
	before, err := plugins.Plan(older, fetched, plugins.Target{Platform: target.Platform})
	if err != nil {
		return nil, fmt.Errorf("--against %s: %w", text, err)
	}
	if target.Installed, err = plugins.AsInstalled(older, fetched, target.Platform); err != nil {
		return nil, fmt.Errorf("--against %s: %w", text, err)
	}
	pkg := before.Packages[0]
	return &preview.Against{Reference: text, Package: older.Name, Version: older.Version, ContentDigest: pkg.ContentDigest, Notes: pkg.Notes}, nil
}
