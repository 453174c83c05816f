package preview

import (
	"slices"
	"strings"
)

// SetDigest returns the content digest of a plugin set: the hash of its name, platform,
// files, config and objects, but not of where it comes from or is installed. For
// several platforms it is the hash of the digests on each, and the same on every
// machine. The restart of a host is included with an empty annotation, whose value will
// be this digest: so the digest covers which Deployment is restarted.
func SetDigest(p *Plan, pkg Package) (string, error) {
	if len(p.Platforms) == 0 {
		return PlatformDigest(p, pkg, p.Platform)
	}
	type one struct {
		Platform      string `json:"platform"`
		ContentDigest string `json:"contentDigest"`
	}
	content := struct {
		FormatVersion int    `json:"formatVersion"`
		Name          string `json:"name"`
		Platforms     []one  `json:"platforms"`
	}{1, pkg.Name, []one{}}
	for _, other := range p.Platforms {
		digest, err := PlatformDigest(p, pkg, other.Platform)
		if err != nil {
			return "", err
		}
		content.Platforms = append(content.Platforms, one{other.Platform, digest})
	}
	slices.SortFunc(content.Platforms, func(a, b one) int { return strings.Compare(a.Platform, b.Platform) })
	return hashStruct(content)
}

// PlatformDigest returns the [SetDigest] of a plugin set on one platform: the plan's
// own, or another of [Plan.Platforms].
func PlatformDigest(p *Plan, pkg Package, platform string) (string, error) {
	type file struct {
		Path   string `json:"path"`
		Mode   string `json:"mode"`
		SHA256 string `json:"sha256"`
	}
	content := struct {
		FormatVersion int               `json:"formatVersion"`
		Name          string            `json:"name"`
		Platform      string            `json:"platform"`
		Config        string            `json:"config"`
		Files         []file            `json:"files"`
		Objects       map[string]string `json:"objects"`
	}{1, pkg.Name, platform, pkg.Parameters.Values, []file{}, map[string]string{}}
	for _, other := range p.Platforms {
		if other.Platform == platform && platform != p.Platform {
			for _, f := range other.Files {
				content.Files = append(content.Files, file{f.Path, f.Mode, f.SHA256})
			}
		}
	}
	for _, f := range p.Files {
		if platform == p.Platform && f.Action != ActionDelete {
			content.Files = append(content.Files, file{f.Path, f.Mode, f.SHA256})
		}
	}
	slices.SortFunc(content.Files, func(a, b file) int { return strings.Compare(a.Path, b.Path) })
	for i := range p.Objects {
		o := &p.Objects[i]
		switch {
		case o.Planned == nil, o.Package != pkg.Name, o.ReleasesOwnership():
		case o.Patches():
			blank, err := Hash(Restart(o.Ref(), ""))
			if err != nil {
				return "", err
			}
			content.Objects[o.ID] = blank
		default:
			content.Objects[o.ID] = o.Digest
		}
	}
	return hashStruct(content)
}
