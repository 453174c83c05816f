package plugins

import (
	"maps"
	"path"
	"path/filepath"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
)

// The layout of krew's root directory (internal/environment), and the receipt among the
// files of a plugin; the one in receipts/ is a link to it.
const (
	krewRoot    = "~/.krew"
	krewStore   = "store"
	krewReceipt = ".krew-receipt.yaml"
)

// krewSource is the name of the index in the receipt of a plugin that is installed from
// a manifest: krew lists such plugins, and does not upgrade them from an index.
const krewSource = "detached"

// LocationIn returns the location of the set below a directory that is given for it: the
// directory itself, and for krew, whose root has many plugins, the plugin's directory.
func (s *Set) LocationIn(dir string) string {
	if s.Form == FormKrew {
		return filepath.Join(dir, krewStore, s.Plugins[0].Name)
	}
	return dir
}

// receiptOf returns the receipt that krew keeps of an installed plugin: its manifest, and
// where that came from.
func receiptOf(manifest map[string]any) []byte {
	body := maps.Clone(manifest)
	body["status"] = map[string]any{"source": map[string]any{"name": krewSource}}
	return []byte(diff.Manifest(body))
}

// Link is a symbolic link: a path below the root of krew, and what it leads to.
type Link struct{ Path, Target string }

// KrewLinks returns the links that krew has of a plugin outside its directory, location:
// kubectl finds the program by the first of them, krew its receipt by the second. It
// returns none for files that belong to no plugin of krew.
func KrewLinks(location string, files []File, platform string) []Link {
	home := path.Join("..", filepath.Base(filepath.Dir(location)), filepath.Base(location))
	for _, f := range files {
		if f.Path != krewReceipt {
			continue
		}
		set, err := Parse(f.Data, Options{})
		if err != nil || set.Form != FormKrew {
			return nil
		}
		plugin := &set.Plugins[0]
		artifact := plugin.Artifact(platform)
		if artifact == nil {
			return nil
		}
		program := "kubectl-" + strings.ReplaceAll(plugin.Name, "-", "_")
		if strings.HasPrefix(platform, "windows/") {
			program += ".exe"
		}
		return []Link{
			{path.Join("bin", program), path.Join(home, artifact.Bin)},
			{path.Join("receipts", plugin.Name+".yaml"), path.Join(home, krewReceipt)},
		}
	}
	return nil
}

// linksText describes the receipt of a plugin by the links that go with it.
func linksText(receipt File, platform string) string {
	var names []string
	for _, link := range KrewLinks("", []File{receipt}, platform) {
		names = append(names, link.Path)
	}
	return "receipt of krew; the links " + strings.Join(names, " and ") + " of krew's directory lead here"
}

// IsKrew reports whether a plan is for a plugin of krew.
func IsKrew(p *preview.Plan) bool {
	return len(p.Packages) > 0 && p.Packages[0].Format == preview.FormatPlugins+string(FormKrew)
}
