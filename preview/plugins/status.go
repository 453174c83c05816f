package plugins

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// How a plugin that a config wants stands at a location.
const (
	StandsOK      = "ok"      // installed, from where the config has it, as its lock says
	StandsMissing = "missing" // wanted and not installed
	StandsExtra   = "extra"   // installed or locked, and not wanted
	StandsOther   = "other"   // installed from elsewhere, or other bytes than wanted
	StandsUnknown = "unknown" // what is installed cannot be read
)

// PluginStatus compares what config, lock file and installed generation say about a
// plugin. Nothing is fetched, so that new bytes behind an unchanged reference show only
// in a plan.
type PluginStatus struct {
	Plugin    string `json:"plugin"`
	State     string `json:"state"` // ok, missing, extra, other, unknown
	Reference string `json:"reference,omitempty"`
	Locked    string `json:"locked,omitempty"`    // sha256 in the lock file
	Installed string `json:"installed,omitempty"` // sha256 of what was installed
	Why       string `json:"why,omitempty"`
}

// SyncStatus says for each plugin, and for the settings, whether what is installed
// matches the config.
type SyncStatus struct {
	Config   string         `json:"config"`
	Lock     string         `json:"lock,omitempty"` // the file; empty for none
	Platform string         `json:"platform"`
	Plugins  []PluginStatus `json:"plugins"`
	// ConfigChanges are settings that differ for the host.
	ConfigChanges []preview.Change `json:"configChanges"`
}

// Unread makes the state of every plugin unknown, because what is installed cannot be
// read for the reason why.
func (s *SyncStatus) Unread(why string) {
	for i := range s.Plugins {
		p := &s.Plugins[i]
		p.State, p.Installed, p.Why = StandsUnknown, "", "what is installed cannot be read: "+clip(why)
	}
	s.ConfigChanges = []preview.Change{}
}

// Compare compares a set and its lock file, which may be nil, with what is installed
// for a platform.
func Compare(set *Set, lock *Lock, installed InstalledFiles, platform string) (SyncStatus, error) {
	out := SyncStatus{Platform: platform, Plugins: []PluginStatus{}, ConfigChanges: []preview.Change{}}
	config, err := ConfigOf(set)
	if err != nil {
		return out, err
	}
	if installed.Generation > 0 {
		out.ConfigChanges = append(out.ConfigChanges, config.changes(installed.Config)...)
	}
	there := installed.Lock
	if there == nil {
		there = &Lock{}
	}
	named := map[string]bool{}
	for i := range set.Plugins {
		p := &set.Plugins[i]
		named[p.Name] = true
		out.Plugins = append(out.Plugins, pluginStatus(p, lock, there, platform))
	}
	for _, one := range there.Platforms[platform] {
		if !named[one.Plugin] {
			named[one.Plugin] = true
			out.Plugins = append(out.Plugins, PluginStatus{
				Plugin: one.Plugin, State: StandsExtra, Reference: one.Reference, Installed: one.Digest,
				Why: "the config does not name it; the next install takes it away",
			})
		}
	}
	if lock != nil {
		for _, one := range lock.Platforms[platform] {
			if !named[one.Plugin] {
				out.Plugins = append(out.Plugins, PluginStatus{
					Plugin: one.Plugin, State: StandsExtra, Reference: one.Reference, Locked: one.Digest,
					Why: "the lock file has it, and the config does not name it",
				})
			}
		}
	}
	slices.SortStableFunc(out.Plugins, func(a, b PluginStatus) int { return strings.Compare(a.Plugin, b.Plugin) })
	return out, nil
}

// pluginStatus compares one plugin of a config with the lock file, which may be nil,
// and with the lock of the installed generation, there.
func pluginStatus(p *Plugin, lock, there *Lock, platform string) PluginStatus {
	out := PluginStatus{Plugin: p.Name, State: StandsOK}
	artifact := p.Artifact(platform)
	if artifact != nil {
		out.Reference = artifact.Reference.Text
	}
	locked, isLocked := LockedArtifact{}, false
	if lock != nil {
		if locked, isLocked = lock.find(platform, p.Name); isLocked {
			out.Locked = locked.Digest
		}
	}
	is, isThere := there.find(platform, p.Name)
	if isThere {
		out.Installed = is.Digest
	}
	out.State, out.Why = judgeStatus(artifact, is, isThere, platform)
	switch {
	case out.State != StandsOK:
	case lock != nil && !isLocked:
		out.State, out.Why = StandsOther, "the lock file has nothing for it on "+platform
	case isLocked && locked.Reference != out.Reference:
		out.State, out.Why = StandsOther, "the lock file has it from "+clip(locked.Reference)
	case isLocked && locked.Digest != is.Digest:
		out.State, out.Why = StandsOther, "the lock file has other bytes than were installed"
	}
	return out
}

func judgeStatus(artifact *Artifact, is LockedArtifact, isThere bool, platform string) (state, why string) {
	switch {
	case artifact == nil:
		return StandsOther, "the config has nothing for it on " + platform
	case !isThere:
		return StandsMissing, "the next install brings it"
	case is.Reference != artifact.Reference.Text:
		return StandsOther, "it was installed from " + clip(is.Reference)
	case artifact.SHA256 != "" && artifact.SHA256 != is.Digest:
		return StandsOther, "the config wants other bytes than were installed"
	}
	return StandsOK, ""
}
