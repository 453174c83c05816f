package engine

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// The APIs of tools that own objects.
const (
	olmAPI           = "operators.coreos.com/v1alpha1"
	extensionAPI     = "olm.operatorframework.io/v1"
	applicationAPI   = "argoproj.io/v1alpha1"
	kappAPI          = "kappctrl.k14s.io/v1alpha1"
	installAPI       = "packaging.carvel.dev/v1alpha1"
	csvKind          = "ClusterServiceVersion"
	subscriptionKind = "Subscription"
)

// behind is what acts on an object because of its marks, or owns it by
// reference: as long as one exists, the object is not simply taken over. hidden
// names what may not be read.
type behind struct {
	owners []map[string]any
	hidden []string
}

func (d *decider) standsBehind(ctx context.Context, live map[string]any) (behind, error) {
	var out behind
	found := d.byReference(ctx, live)
	for _, owner := range preview.ForeignOwners(live, d.plan.Release) {
		found = append(found, d.behindMark(ctx, owner, live)...)
	}
	seen := map[string]bool{}
	for _, r := range found {
		id := r.Ref.ID()
		switch {
		case r.Err != nil && !preview.Answered(r.Err):
			return out, fmt.Errorf("reading the owner %s: %w", id, r.Err)
		case seen[id], preview.ReasonOf(r.Err) == preview.ReasonNotServed, r.Err == nil && r.Body == nil:
		case r.Err != nil:
			out.hidden = append(out.hidden, id)
		default:
			out.owners = append(out.owners, r.Body)
		}
		seen[id] = true
	}
	return out, nil
}

// byReference reads the owners by reference that still exist.
func (d *decider) byReference(ctx context.Context, live map[string]any) []preview.ReadResult {
	var out []preview.ReadResult
	for _, item := range preview.Maps(preview.Map(live, "metadata"), "ownerReferences") {
		ref := preview.Ref{
			APIVersion: preview.String(item, "apiVersion"), Kind: preview.String(item, "kind"),
			Namespace: preview.RefOf(live).Namespace, Name: preview.String(item, "name"),
		}
		if namespaced, err := d.cluster.Kind(ctx, ref.APIVersion, ref.Kind); err == nil && !namespaced {
			ref.Namespace = ""
		}
		r := d.cluster.Read(ctx, []preview.Ref{ref})[0]
		if r.Err == nil && preview.String(r.Body, "metadata", "uid") != preview.String(item, "uid") {
			continue // another one of that name
		}
		out = append(out, r)
	}
	return out
}

// behindMark finds what stands behind one mark. Nothing does behind Helm's: its
// record is read by nobody until somebody runs Helm.
func (d *decider) behindMark(ctx context.Context, owner preview.Owner, live map[string]any) []preview.ReadResult {
	namespace := preview.RefOf(live).Namespace
	in := func(key string) string { return cmp.Or(preview.MarkValue(live, key), namespace) }
	switch owner.Tool {
	case preview.ToolOLMv1:
		return d.firstServed(ctx, preview.Ref{Kind: "ClusterExtension", Name: owner.Name}, extensionAPI)
	case preview.ToolOLMv0:
		kind := cmp.Or(preview.MarkValue(live, "olm.owner.kind"), csvKind)
		return d.firstServed(ctx, preview.Ref{Kind: kind, Namespace: in("olm.owner.namespace"), Name: owner.Name}, olmAPI)
	case preview.ToolKustomization:
		return d.firstServed(ctx, preview.Ref{Kind: "Kustomization", Namespace: in("kustomize.toolkit.fluxcd.io/namespace"), Name: owner.Name},
			"kustomize.toolkit.fluxcd.io/v1", "kustomize.toolkit.fluxcd.io/v1beta2")
	case preview.ToolHelmRelease:
		return d.firstServed(ctx, preview.Ref{Kind: "HelmRelease", Namespace: in("helm.toolkit.fluxcd.io/namespace"), Name: owner.Name},
			"helm.toolkit.fluxcd.io/v2", "helm.toolkit.fluxcd.io/v2beta2")
	case preview.ToolArgo:
		return d.applications(ctx, owner.Name)
	case preview.ToolCarvel:
		return d.carvelApps(ctx, owner.Name)
	}
	return nil
}

// firstServed reads an object in the first of several versions that the cluster
// serves.
func (d *decider) firstServed(ctx context.Context, ref preview.Ref, apis ...string) []preview.ReadResult {
	var r preview.ReadResult
	for _, ref.APIVersion = range apis {
		r = d.cluster.Read(ctx, []preview.Ref{ref})[0]
		if preview.ReasonOf(r.Err) != preview.ReasonNotServed {
			break
		}
	}
	return []preview.ReadResult{r}
}

// all lists a kind in every namespace, and keeps what wanted says.
func (d *decider) all(ctx context.Context, ref preview.Ref, selector string, wanted func(body map[string]any) bool) []preview.ReadResult {
	bodies, err := d.cluster.List(ctx, ref.APIVersion, ref.Kind, "", selector)
	if err != nil {
		return []preview.ReadResult{{Ref: ref, Err: err}}
	}
	var out []preview.ReadResult
	for _, body := range bodies {
		if wanted(body) {
			out = append(out, preview.ReadResult{Ref: preview.RefOf(body), Body: body})
		}
	}
	return out
}

// applications finds the Argo CD Application of a tracking id, which is
// APPLICATION:GROUP/KIND:NAMESPACE/NAME, or of an instance label. One that is
// in another namespace than Argo CD goes by NAMESPACE_NAME.
func (d *decider) applications(ctx context.Context, mark string) []preview.ReadResult {
	name, _, _ := strings.Cut(mark, ":")
	ref := preview.Ref{APIVersion: applicationAPI, Kind: "Application", Name: name}
	return d.all(ctx, ref, "", func(body map[string]any) bool {
		at := preview.RefOf(body)
		return at.Name == name || at.Namespace+"_"+at.Name == name
	})
}

// carvelApps finds the record of kapp whose label an object carries: a ConfigMap
// that holds the label's value. Where kapp-controller made it, its App or
// PackageInstall is the owner.
func (d *decider) carvelApps(ctx context.Context, label string) []preview.ReadResult {
	ref := preview.Ref{APIVersion: "v1", Kind: "ConfigMap", Name: "of-kapp-app-" + label}
	records := d.all(ctx, ref, "kapp.k14s.io/is-app", func(body map[string]any) bool {
		spec, err := preview.DecodeJSON([]byte(preview.String(body, "data", "spec")))
		fields, _ := spec.(map[string]any)
		return err == nil && preview.String(fields, "labelValue") == label
	})
	for i, record := range records {
		name, made := controlledApp(record.Ref.Name)
		if record.Err != nil || !made {
			continue
		}
		for _, kind := range []preview.Ref{{APIVersion: installAPI, Kind: "PackageInstall"}, {APIVersion: kappAPI, Kind: "App"}} {
			kind.Namespace, kind.Name = record.Ref.Namespace, name
			if r := d.cluster.Read(ctx, []preview.Ref{kind})[0]; r.Err == nil && r.Body != nil {
				records[i] = r
				break
			}
		}
	}
	return records
}

// controlledApp returns the App for which kapp-controller has a record.
func controlledApp(record string) (name string, ok bool) {
	for _, suffix := range []string{".app", "-ctrl"} {
		if name, ok = strings.CutSuffix(record, suffix); ok {
			return name, true
		}
	}
	return "", false
}

func (b behind) nothing() bool { return len(b.owners)+len(b.hidden) == 0 }

// note enters what was found into what is recorded of the object.
func (b behind) note(record *ownerRecord) {
	record.Owners = make([]recordOwner, 0, len(b.owners))
	for _, body := range b.owners {
		ref := preview.RefOf(body)
		record.Owners = append(record.Owners, recordOwner{
			APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name, UID: preview.String(body, "metadata", "uid"),
		})
	}
	record.Hidden = append([]string{}, b.hidden...)
}
