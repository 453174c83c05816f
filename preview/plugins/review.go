package plugins

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// reviewer inspects the files of a set for [review].
type reviewer struct {
	set      *Set
	platform string
	notes    []preview.Note
	images   []preview.Executor
	named    map[string]string // files of YAML plugins, by the name that each has in it
}

func (r *reviewer) note(rule rules.Rule, object, text string) {
	r.notes = append(r.notes, rule.Note(object, text))
}

// review returns a description of each file, the images where plugins run, and notes for
// the person who reviews the plan.
func review(set *Set, platform string, files []File) ([]string, []preview.Executor, []preview.Note) {
	r := &reviewer{set: set, platform: platform, named: map[string]string{}}
	texts := make([]string, len(files))
	for i, f := range files {
		texts[i] = r.file(f)
	}
	if set.Form == FormOptimus || set.Form == FormArtifacts {
		r.optimusNames(files)
	}
	for _, p := range set.Plugins {
		for _, e := range configExecutors(p) {
			r.image(e)
		}
	}
	slices.SortFunc(r.images, compareExecutors)
	return texts, slices.Compact(r.images), r.notes
}

func compareExecutors(a, b preview.Executor) int {
	return cmp.Or(strings.Compare(a.By, b.By), strings.Compare(a.Image, b.Image))
}

// image adds an image that a plugin runs in, with a note if it is not named by digest.
func (r *reviewer) image(e preview.Executor) {
	r.images = append(r.images, e)
	if !isPinned(e.Image) {
		r.note(rules.PluginImageByTag, e.By, rules.PluginImageByTag.NoteText(clip(e.Image)))
	}
}

func (r *reviewer) file(f File) string {
	object := "file/" + f.Path
	if len(f.Mode) == 4 && (f.Mode[0]-'0')&6 != 0 {
		r.note(rules.PluginSetuid, object, rules.PluginSetuid.NoteText(f.Mode))
	}
	if len(f.Mode) == 4 && (f.Mode[3]-'0')&2 != 0 {
		r.note(rules.PluginWorldWritable, object, rules.PluginWorldWritable.NoteText(f.Mode))
	}
	contents := Inspect(f.Data)
	switch {
	case contents.Damaged != "":
		r.note(rules.PluginPlatform, object, "it has an "+contents.Damaged)
	case len(contents.Platforms) > 0 && !slices.ContainsFunc(contents.Platforms, r.fits):
		r.note(rules.PluginPlatform, object, "it is for "+strings.Join(contents.Platforms, ", ")+", and the plan for "+r.platform)
	}
	switch {
	case f.Path == krewReceipt && r.set.Form == FormKrew:
		return linksText(f, r.platform)
	case !isYAMLPlugin(f.Path):
		return contents.Text
	}
	plugin, err := readYAMLPlugin(f.Data)
	if err != nil {
		r.note(rules.PluginInvalid, object, rules.PluginInvalid.NoteText(err))
		return contents.Text
	}
	if other, taken := r.named[plugin.name]; taken {
		r.note(rules.PluginNameTaken, object, rules.PluginNameTaken.NoteText(clip(plugin.name), clip(other)))
	}
	r.named[plugin.name] = f.Path
	r.image(preview.Executor{Image: plugin.image, By: object})
	return plugin.text()
}

// fits reports whether a platform of an executable is the reviewed one. The variant,
// such as v7 in linux/arm/v7, is not compared, because executables do not contain it.
func (r *reviewer) fits(platform string) bool {
	return platform == r.platform || strings.HasPrefix(r.platform, platform+"/")
}

// The names that Optimus looks for (plugin/plugin.go).
const (
	yamlPrefix, yamlSuffix = "optimus-plugin-", ".yaml"
	binaryPrefix           = "optimus-"
)

func isYAMLPlugin(path string) bool {
	name := path[strings.LastIndex(path, "/")+1:]
	return strings.HasPrefix(name, yamlPrefix) && strings.HasSuffix(name, yamlSuffix) && len(name) > len(yamlPrefix+yamlSuffix)
}

// optimusNames adds notes about files that Optimus does not load because of their
// names, and programs that it refuses.
func (r *reviewer) optimusNames(files []File) {
	described := map[string]bool{}
	for _, f := range files {
		if isYAMLPlugin(f.Path) && !strings.Contains(f.Path, "/") {
			described[strings.TrimSuffix(strings.TrimPrefix(f.Path, yamlPrefix), yamlSuffix)] = true
		}
	}
	system, arch, _ := strings.Cut(r.platform, "/")
	suffix := "_" + system + "_" + arch
	for _, f := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(f.Path, binaryPrefix), suffix)
		switch {
		case strings.Contains(f.Path, "/"):
			r.note(rules.PluginName, "file/"+f.Path, "Optimus does not look into folders of its plugins")
		case isYAMLPlugin(f.Path):
		case !strings.HasPrefix(f.Path, binaryPrefix) || !strings.HasSuffix(f.Path, suffix) || name == "":
			r.note(rules.PluginName, "file/"+f.Path, "Optimus finds "+yamlPrefix+"NAME"+yamlSuffix+" and "+binaryPrefix+"NAME"+suffix+", and not this")
		case !described[name]:
			r.note(rules.PluginName, "file/"+f.Path, "Optimus wants "+yamlPrefix+clip(name)+yamlSuffix+" next to a program, and refuses a program without it")
		}
	}
}
