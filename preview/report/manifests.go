package report

import (
	"errors"
	"io"
	"reflect"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/review"
)

// writeManifests writes the planned objects as a YAML stream, in the order of the
// stages. Comments in it name the file each object came from, and the objects that are
// deleted or kept.
func writeManifests(w io.Writer, p *preview.Plan, o Options) error {
	var out strings.Builder
	out.WriteString("# " + line(review.Title(p)) + "\n# content " + line(p.ContentDigest) + "\n# review  " + line(p.Digest) + "\n")
	masked, written, names := 0, 0, preview.SecretNamesOf(p)
	var body, rest strings.Builder
	for _, object := range inStageOrder(p) {
		if object.Planned == nil {
			rest.WriteString("# " + line(string(object.Action)+" "+object.ID) + "\n")
			continue
		}
		written++
		body.WriteString("---\n")
		if place := object.Origin.Place(); place != "" {
			body.WriteString("# from " + line(place) + "\n")
		}
		for _, text := range p.Contested(object) {
			body.WriteString("# " + line(text) + "\n")
		}
		sent := p.Sent(object)
		if shown := names.Mask(sent); !o.PlaintextSecrets && !reflect.DeepEqual(shown, sent) {
			masked++
			sent = shown
		}
		body.WriteString(diff.Manifest(sent))
	}
	if written == 0 && len(p.Objects) > 0 && rest.Len() == 0 {
		return errors.New("writing manifests: the plan carries no objects; make it again with preview")
	}
	if masked > 0 {
		out.WriteString("# Sensitive values of " + preview.Plural(masked, "object") +
			" are replaced by " + preview.Masked + "; these objects cannot be applied.\n")
	}
	_, err := io.WriteString(w, out.String()+rest.String()+body.String())
	return err
}

// inStageOrder returns every object of a plan once: those of the stages in their order,
// then the others.
func inStageOrder(p *preview.Plan) []*preview.Object {
	byID := p.ObjectsByID()
	var out []*preview.Object
	take := func(id string) {
		if o := byID[id]; o != nil {
			out = append(out, o)
			delete(byID, id)
		}
	}
	for _, stage := range p.Stages {
		for _, id := range stage.Objects {
			take(id)
		}
	}
	for i := range p.Objects {
		take(p.Objects[i].ID)
	}
	return out
}
