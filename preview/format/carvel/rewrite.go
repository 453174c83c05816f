package carvel

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// toolGroups are the API groups of the configuration files of Carvel's tools, which lie
// among the manifests but are no objects of the cluster.
var toolGroups = []string{"kbld.k14s.io", "kbld.carvel.dev", "kapp.k14s.io", "vendir.k14s.io", "imgpkg.carvel.dev"}

// dropToolConfig removes the configuration of Carvel's tools from the output, with a
// note.
func dropToolConfig(out *format.Output, pkg string) {
	var dropped []string
	out.Objects = slices.DeleteFunc(out.Objects, func(o format.RenderedObject) bool {
		ref := preview.RefOf(o.Body)
		if !slices.Contains(toolGroups, ref.Group()) {
			return false
		}
		dropped = append(dropped, fmt.Sprintf("%s document %d (%s of %s)", o.Origin.File, o.Origin.Document, ref.Kind, ref.APIVersion))
		return true
	})
	if len(dropped) > 0 {
		slices.Sort(dropped)
		out.Notes = append(out.Notes, rules.ToolConfigNotRead.Note("package/"+pkg, "these configure Carvel's tools, which are not run: "+strings.Join(dropped, ", ")))
	}
}

// rewrite replaces images by the locked ones in every field called "image", as kbld
// does by default, with a note for each object.
func (l *lock) rewrite(out *format.Output, namespace string) error {
	var bodies []map[string]any
	for _, o := range out.Objects {
		bodies = append(bodies, o.Body)
	}
	scopes := preview.NewScopes(bodies)
	for _, body := range bodies {
		replaced := map[string]string{}
		l.walk(body, replaced)
		if l.rewrites > maxRewrite {
			return fmt.Errorf("its objects name more than %d images", maxRewrite)
		}
		if len(replaced) == 0 {
			continue
		}
		ref := preview.RefOf(body)
		if ref.Namespace == "" && scopes.Namespaced(ref.Group(), ref.Kind) {
			ref.Namespace = namespace
		}
		var texts []string
		for _, id := range slices.Sorted(maps.Keys(replaced)) {
			texts = append(texts, fmt.Sprintf("image %s became %s, as the bundle's image lock says", id, replaced[id]))
		}
		out.Notes = append(out.Notes, rules.ImageLocked.Note(ref.ID(), strings.Join(texts, "; ")))
	}
	return nil
}

func (l *lock) walk(v any, replaced map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			if id, is := item.(string); is && key == "image" {
				if image, locked := l.byID[id]; locked {
					l.rewrites++
					if image != id {
						v[key], replaced[id] = image, image
					}
				}
				continue
			}
			l.walk(item, replaced)
		}
	case []any:
		for _, item := range v {
			l.walk(item, replaced)
		}
	}
}
