package engine

import (
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/remedy"
)

// BlockedBy returns why an object is blocked, as [preview.WhyBlocked] does, with its
// owner and with what to do about it. The words follow the object's id.
func BlockedBy(p *preview.Plan, o *preview.Object) string {
	found := blocked(p, recordSearch{p}, o)
	return found.Cause + "; " + found.Remedy
}

// blocked returns the obstacle that an object is which must not be written.
func blocked(p *preview.Plan, seen recordReader, o *preview.Object) preview.Obstacle {
	c := remedy.Case{Plan: p, Object: o, ID: o.ID}
	why := preview.WhyBlocked(o, p.Release)
	if preview.String(o.LiveBody, "metadata", "deletionTimestamp") != "" {
		return remedy.Obstacle(remedy.Deleting, why, c)
	}
	if p.AppliedBy != nil {
		return remedy.Obstacle(remedy.ApplierRefuses, "exists and is not part of the release, so that the tool refuses to write it", c)
	}
	found := recordedOwner(seen, o.ID)
	if owner, ok := found.owningRelease(); ok {
		return ofRelease(c, owner)
	}
	if len(found.Owners) > 0 {
		c.Owner = found.Owners[0].ref()
		return remedy.Obstacle(remedy.Controller, "belongs to "+c.Owner.ID(), c)
	}
	if len(found.Hidden) > 0 {
		c.Hidden = found.Hidden[0]
		return remedy.Obstacle(remedy.HiddenOwner, "may belong to "+c.Hidden+", which may not be read", c)
	}
	owner, foreign := preview.ForeignOwner(o.LiveBody, p.Release)
	switch references := preview.Maps(preview.Map(o.LiveBody, "metadata"), "ownerReferences"); {
	case foreign && owner.Tool == preview.ToolApplySet:
		c.Set = owner.Name
		return remedy.Obstacle(remedy.ApplySet, why, c)
	case foreign:
		return remedy.Obstacle(remedy.OtherTool, why, c)
	case len(references) > 0 && !p.Member(o):
		c.Owner = preview.Ref{APIVersion: preview.String(references[0], "apiVersion"), Kind: preview.String(references[0], "kind"), Namespace: o.Namespace, Name: preview.String(references[0], "name")}
		return remedy.Obstacle(remedy.OwnerReference, why, c)
	case preview.Irreplaceable(o) != "":
		return remedy.Obstacle(remedy.Irreplaceable, why, c)
	}
	return remedy.Obstacle(remedy.OtherTool, why, c)
}

// ofRelease returns the obstacle that an object of another release is.
func ofRelease(c remedy.Case, owner Owner) preview.Obstacle {
	c.Release = preview.Release{Name: owner.Name, Namespace: owner.Namespace}
	belongs := "belongs to " + owner.String()
	switch {
	case owner.Hidden:
		return remedy.Obstacle(remedy.HiddenRelease, belongs+", whose record may not be read", c)
	case !isDefinition(c.Object):
		return remedy.Obstacle(remedy.OtherRelease, belongs, c)
	case owner.Same:
		return remedy.Obstacle(remedy.ChangedDefinition, belongs+", which has the same, but the live one is not as that release left it", c)
	}
	return remedy.Obstacle(remedy.OtherDefinition, belongs+", which has another form of it", c)
}

// adoptable returns the obstacle that an existing object is which --adopt would take
// over.
func adoptable(p *preview.Plan, o *preview.Object) preview.Obstacle {
	why := "exists and is not part of this release"
	if name := preview.MarkValue(o.LiveBody, "meta.helm.sh/release-name"); name != "" {
		release := preview.Release{Name: name, Namespace: preview.MarkValue(o.LiveBody, "meta.helm.sh/release-namespace")}
		return remedy.Obstacle(remedy.OfHelm, "belongs to Helm release "+name, remedy.Case{Plan: p, Object: o, ID: o.ID, Release: release})
	}
	found := recordedOwner(recordSearch{p}, o.ID)
	if found.State == ownerGone && found.Release.Name == p.Release.Name && p.Base.Revision > 0 {
		why = "has the name of this release in the label " + preview.LabelRelease + ", and no release has the set in its label " + preview.LabelPartOf + "; the label was changed, or names an earlier release of that name"
	} else if found.State == ownerGone {
		why = "was left behind by release " + found.Release.Name + ", which is gone"
	} else if len(found.Owners) > 0 {
		why = "belongs to " + found.Owners[0].ref().ID() + "; --adopt deletes it and the objects that would install it again"
	} else if owner, foreign := preview.ForeignOwner(o.LiveBody, p.Release); foreign {
		why = "was made by " + owner.String()
	}
	return remedy.Obstacle(remedy.Unowned, why, remedy.Case{Plan: p, Object: o, ID: o.ID})
}
