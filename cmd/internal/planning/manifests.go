package planning

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// Manifests returns the objects in the directory manifests of a package's bundle, as
// written there: of its image by the digest of the plan.
func Manifests(ctx context.Context, p *Planner, pkg *preview.Package, progress func(string)) ([]map[string]any, error) {
	from := pkg.Sources[0]
	reference, err := ref.Parse("oci://" + strings.TrimPrefix(from.Reference, "oci://"))
	if err == nil && reference.Kind != ref.KindImage {
		err = fmt.Errorf("%s is no image", from.Reference)
	}
	if err != nil {
		return nil, fmt.Errorf("package %s: %w", pkg.Name, err)
	}
	if reference, err = ref.Parse("oci://" + reference.Repository() + "@" + from.Digest); err != nil {
		return nil, err
	}
	r, err := p.Resolver(progress)
	if err != nil {
		return nil, err
	}
	got, err := r.fetch(ctx, reference)
	if err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(got.FS, "manifests")
	if err != nil {
		return nil, fmt.Errorf("package %s: %w", pkg.Name, err)
	}
	var out []map[string]any
	for _, entry := range entries {
		data, err := fs.ReadFile(got.FS, path.Join("manifests", entry.Name()))
		if err != nil {
			return nil, err
		}
		objects, err := preview.Decode(data)
		if err != nil {
			return nil, fmt.Errorf("package %s: manifests/%s: %w", pkg.Name, entry.Name(), err)
		}
		for _, object := range objects {
			if body, ok := object.(map[string]any); ok {
				out = append(out, body)
			}
		}
	}
	return out, nil
}
