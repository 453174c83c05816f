package preview

import "errors"

// CheckSet returns an error if the plan of a plugin set is not well-formed, or if any
// other plan has files.
func (p *Plan) CheckSet() error {
	if p.Platform == "" {
		if len(p.Files) > 0 || p.Generation != nil || p.Location != nil || len(p.Platforms)+len(p.ConfigChanges) > 0 {
			return errors.New("it has files, and is not of a plugin set")
		}
		return nil
	}
	clean := len(p.Packages) == 0
	if p.Generation == nil || p.Location == nil || !clean && (len(p.Packages) != 1 || p.Packages[0].Name != p.Release.Name) {
		return errors.New("it is not whole as the plan of a plugin set")
	}
	for _, pkg := range p.Packages {
		// Of these a set has none, and its content digest knows none.
		if given := pkg.Parameters; given.InstallMode+given.Certs+given.KubeVersion != "" || len(given.WatchNamespaces)+len(given.ClusterReads) > 0 || given.Section != nil {
			return errors.New("the parameters of " + pkg.Name + " do not fit a plugin set")
		}
	}
	paths := map[string]bool{}
	for _, f := range p.Files {
		if paths[f.Path] {
			return errors.New("file " + f.Path + " is listed twice")
		}
		paths[f.Path] = true
		if err := f.checkAction(clean); err != nil {
			return err
		}
	}
	if clean && len(p.Platforms)+len(p.ConfigChanges) > 0 {
		return errors.New("it removes generations, but also names a plugin set")
	}
	if err := checkGeneration(p, clean); err != nil {
		return err
	}
	return checkPlatforms(p)
}

// checkAction returns an error if the file's action does not follow from the file on
// disk. clean: the plan only deletes files.
func (f *File) checkAction(clean bool) error {
	gone, same := f.Action == ActionDelete, f.Live == (LiveFile{SHA256: f.SHA256, Mode: f.Mode})
	there := f.Live != LiveFile{}
	switch {
	case clean && !gone:
		return errors.New("file " + f.Path + " belongs to no package of the plan")
	case (gone || f.Action == ActionUnchanged) && len(f.Changes) > 0:
		return errors.New("file " + f.Path + " changes, and its action says that it does not")
	case gone && there && f.SHA256 == "", f.Action == ActionUnchanged && same && there,
		f.Action == ActionUpdate && !same && there, f.Action == ActionCreate && !there:
		return nil
	}
	return errors.New("file " + f.Path + " has an action that does not follow from the files present")
}

// checkGeneration returns an error unless the generation number rises exactly if files
// or config change or none is installed. A plan of clean must not change it.
func checkGeneration(p *Plan, clean bool) error {
	g := p.Generation
	follows := g.To == g.From
	if !clean && (g.From == 0 || FileChanges(p.Files) || len(p.ConfigChanges) > 0) {
		follows = g.To > g.From
	}
	restored := g.Restores == nil || !clean && *g.Restores >= 0 && *g.Restores != g.To
	if g.From < 0 || !follows || !restored {
		return errors.New("its generations do not follow one another")
	}
	return nil
}

// checkPlatforms returns an error if the files of a platform do not have its content
// digest, or a platform is listed twice.
func checkPlatforms(p *Plan) error {
	seen := map[string]bool{}
	for _, other := range p.Platforms {
		digest, err := PlatformDigest(p, p.Packages[0], other.Platform)
		switch {
		case seen[other.Platform]:
			return errors.New("platform " + other.Platform + " is listed twice")
		case err != nil || digest != other.ContentDigest:
			return errors.New("the files for " + other.Platform + " do not hash to their contentDigest")
		case other.Platform == p.Platform && len(other.Files) > 0:
			return errors.New("the files of its platform are listed twice")
		}
		seen[other.Platform] = true
	}
	if len(p.Platforms) > 0 && !seen[p.Platform] {
		return errors.New("its own platform is none of its platforms")
	}
	return nil
}
