package cloud

import (
	keys "maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Sources groups objects by package, because each package has its own annotations.
func Sources(p *preview.Plan, body func(*preview.Object) map[string]any) []Input {
	byPackage := map[string][]map[string]any{}
	for i := range p.Objects {
		if b := body(&p.Objects[i]); b != nil {
			byPackage[p.Objects[i].Package] = append(byPackage[p.Objects[i].Package], b)
		}
	}
	var out []Input
	for _, name := range slices.Sorted(keys.Keys(byPackage)) {
		objects := byPackage[name]
		out = append(out, Input{Objects: objects, Annotations: packageAnnotations(objects), PackageID: name})
	}
	return out
}

// packageAnnotations returns a package's annotations from its pod templates, to
// which registry+v1 copies them. So they come from sealed content, and a saved
// plan gives the same result.
func packageAnnotations(objects []map[string]any) map[string]string {
	out := map[string]string{}
	for _, body := range objects {
		if !preview.IsKind(body, preview.KindDeployment) {
			continue
		}
		_, meta := preview.PodTemplate(body)
		for key, v := range preview.Map(meta, "annotations") {
			if text, ok := v.(string); ok && (strings.Contains(key, "operators.openshift.io/") || key == Examples) {
				out[key] = text
			}
		}
	}
	return out
}
