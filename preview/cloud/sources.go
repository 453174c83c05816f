package cloud

import (
	keys "maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Sources returns the objects of a plan by package, as each package has its own
// annotations. The function body returns the form of an object to search, such as the
// planned one, nil for none.
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

// DocumentsOf returns the documents of the package with that name.
func DocumentsOf(packages []preview.Package, name string) []preview.CloudDocument {
	for i := range packages {
		if packages[i].Name == name {
			return packages[i].CloudDocuments
		}
	}
	return nil
}

// packageAnnotations returns the annotations of a package from the pod templates of its
// Deployments, because registry+v1 copies them there. So a saved plan, which has only
// the objects, gives the same result.
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
