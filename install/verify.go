package install

import (
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// verifyPlan recomputes every digest of a plan from its sealed objects: what
// apply sends is what was approved, whoever made the plan value.
func verifyPlan(plan *preview.Plan) error {
	for i := range plan.Objects {
		o := &plan.Objects[i]
		if o.Ref().ID() != o.ID {
			return fmt.Errorf("object %s goes by another name inside", o.ID)
		}
		if o.Sealed == nil {
			if o.Digest != "" {
				return fmt.Errorf("the sealed object %s is missing", o.ID)
			}
			continue
		}
		digest, err := preview.HashObject(o.Sealed, pinOf(plan, o.Package))
		if err != nil {
			return fmt.Errorf("hashing %s: %w", o.ID, err)
		}
		if digest != o.Digest || preview.RefOf(o.Sealed) != o.Ref() {
			return fmt.Errorf("the sealed object %s does not match its digest", o.ID)
		}
	}
	for _, pkg := range plan.Packages {
		var members []preview.Object
		for i := range plan.Objects {
			if o := plan.Objects[i]; o.Package == pkg.Name && o.Sealed != nil {
				members = append(members, o)
			}
		}
		digest, err := preview.ContentDigest(plan.Release, pkg, members, plan.Files)
		if err != nil || digest != pkg.ContentDigest {
			return fmt.Errorf("the objects of package %s do not hash to its contentDigest", pkg.Name)
		}
	}
	digest, err := plan.Facts().Digest()
	if err != nil {
		return err
	}
	if digest != plan.Digest {
		return fmt.Errorf("its facts hash to %s, not to its digest %s", digest, plan.Digest)
	}
	return nil
}

// pinOf returns the first pin of a package, which salts the digests of its
// sensitive objects.
func pinOf(plan *preview.Plan, name string) string {
	for _, pkg := range plan.Packages {
		if pkg.Name == name && len(pkg.Sources) > 0 {
			return pkg.Sources[0].Digest
		}
	}
	return ""
}
