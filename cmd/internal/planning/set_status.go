package planning

import (
	"fmt"
	"runtime"

	installed "github.com/kubectl-operator/kubectl-operator/install/plugins"

	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
)

// Status compares a config and its lock with the current generation, for the
// platform that this is of.
func (o *SetOptions) Status(location string, set *plugins.Set, generations []installed.Generation) (*plugins.Wanted, error) {
	lock, err := readLock(o.lockPath(), set, o.Lock != "")
	if err != nil {
		return nil, fmt.Errorf("lock file %s: %w", o.lockPath(), err)
	}
	platform, now := runtime.GOOS+"/"+runtime.GOARCH, plugins.Installed{}
	for _, g := range generations {
		if !g.Current || g.Receipt == nil {
			continue
		}
		if g.Receipt.Platform != "" {
			platform = g.Receipt.Platform
		}
		if now, err = installed.Told(location, g.Number); err != nil {
			return nil, nil // which is the problem that is told of the generation
		}
	}
	wanted, err := plugins.Compare(set, lock, now, platform)
	if wanted.Config = o.Config; lock != nil {
		wanted.Lock = o.lockPath()
	}
	return &wanted, err
}
