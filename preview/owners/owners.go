package owners

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// The API versions and kinds of the tools' own objects.
const (
	OLMAPI           = "operators.coreos.com/v1alpha1"
	extensionAPI     = "olm.operatorframework.io/v1"
	applicationAPI   = "argoproj.io/v1alpha1"
	kappAPI          = "kappctrl.k14s.io/v1alpha1"
	installAPI       = "packaging.carvel.dev/v1alpha1"
	CSVKind          = "ClusterServiceVersion"
	SubscriptionKind = "Subscription"
)

// Controllers are the objects, such as a Flux Kustomization, whose controllers act on
// an object, by its labels, annotations or owner references. While one exists, the
// object cannot simply be adopted. Hidden lists those that the user may not read.
type Controllers struct {
	Objects []map[string]any
	Hidden  []string
}

// Cluster is the part of a cluster that is needed to find owners.
type Cluster interface {
	Kind(ctx context.Context, apiVersion, kind string) (namespaced bool, err error)
	Read(ctx context.Context, refs []preview.Ref) []preview.ReadResult
	List(ctx context.Context, apiVersion, kind, namespace, selector string, fields ...string) ([]map[string]any, error)
}

// Finder finds the controllers that act on objects, other than the release. It remembers
// its reads for other objects: objects of an application have the same owner.
type Finder struct {
	cluster Cluster
	release preview.Release
	reads   map[preview.Ref]preview.ReadResult
	marks   map[mark][]preview.ReadResult
}

// mark is what an object says about its owner, as far as it decides who that is.
type mark struct {
	tool, name, namespace, kind string
}

// NewFinder returns a Finder for one plan of a release.
func NewFinder(cluster Cluster, release preview.Release) *Finder {
	return &Finder{cluster: cluster, release: release, reads: map[preview.Ref]preview.ReadResult{}, marks: map[mark][]preview.ReadResult{}}
}

// Find returns the controllers that own a live object and still exist. It returns an error if
// the cluster does not answer.
func (f *Finder) Find(ctx context.Context, live map[string]any) (Controllers, error) {
	var out Controllers
	found := f.findByReference(ctx, live)
	for _, owner := range preview.ForeignOwners(live, f.release) {
		found = append(found, f.findByMark(ctx, owner, live)...)
	}
	seen := map[string]bool{}
	for _, r := range found {
		id := r.Ref.ID()
		switch {
		case r.Err != nil && !preview.Answered(r.Err):
			return out, fmt.Errorf("reading the owner %s: %w", id, r.Err)
		case seen[id], preview.ReasonOf(r.Err) == preview.ReasonNotServed, r.Err == nil && r.Body == nil:
		case r.Err != nil:
			out.Hidden = append(out.Hidden, id)
		default:
			out.Objects = append(out.Objects, r.Body)
		}
		seen[id] = true
	}
	return out, nil
}

// findByReference reads the owners in an object's ownerReferences. One that was created
// again, with another uid, is left out.
func (f *Finder) findByReference(ctx context.Context, live map[string]any) []preview.ReadResult {
	var out []preview.ReadResult
	for _, item := range preview.Maps(preview.Map(live, "metadata"), "ownerReferences") {
		ref := preview.Ref{
			APIVersion: preview.String(item, "apiVersion"), Kind: preview.String(item, "kind"),
			Namespace: preview.RefOf(live).Namespace, Name: preview.String(item, "name"),
		}
		if namespaced, err := f.cluster.Kind(ctx, ref.APIVersion, ref.Kind); err == nil && !namespaced {
			ref.Namespace = ""
		}
		r := f.read(ctx, ref)
		if r.Err == nil && preview.String(r.Body, "metadata", "uid") != preview.String(item, "uid") {
			continue // another one of that name
		}
		out = append(out, r)
	}
	return out
}

// read reads an object once.
func (f *Finder) read(ctx context.Context, ref preview.Ref) preview.ReadResult {
	r, known := f.reads[ref]
	if !known {
		r = f.cluster.Read(ctx, []preview.Ref{ref})[0]
		f.reads[ref] = r
	}
	return r
}

// findByMark reads the controllers that an owner's labels and annotations name.
func (f *Finder) findByMark(ctx context.Context, owner preview.Owner, live map[string]any) []preview.ReadResult {
	m := markOf(owner, live)
	found, known := f.marks[m]
	if !known {
		found = f.marked(ctx, m)
		f.marks[m] = found
	}
	return found
}

// markOf returns what an object's labels and annotations say about an owner.
func markOf(owner preview.Owner, live map[string]any) mark {
	m := mark{tool: owner.Tool, name: owner.Name}
	in := func(key string) string { return cmp.Or(preview.MarkValue(live, key), preview.RefOf(live).Namespace) }
	switch owner.Tool {
	case preview.ToolOLMv0:
		m.kind, m.namespace = cmp.Or(preview.MarkValue(live, "olm.owner.kind"), CSVKind), in("olm.owner.namespace")
	case preview.ToolKustomization:
		m.namespace = in("kustomize.toolkit.fluxcd.io/namespace")
	case preview.ToolHelmRelease:
		m.namespace = in("helm.toolkit.fluxcd.io/namespace")
	case preview.ToolArgo:
		m.name, _, _ = strings.Cut(owner.Name, ":") // a tracking id belongs to one object
	}
	return m
}

// marked reads the controllers with a mark. For Helm there is none, because its record
// has no effect until Helm runs.
func (f *Finder) marked(ctx context.Context, m mark) []preview.ReadResult {
	switch m.tool {
	case preview.ToolOLMv1:
		return f.firstServed(ctx, preview.Ref{Kind: "ClusterExtension", Name: m.name}, extensionAPI)
	case preview.ToolOLMv0:
		return f.firstServed(ctx, preview.Ref{Kind: m.kind, Namespace: m.namespace, Name: m.name}, OLMAPI)
	case preview.ToolKustomization:
		return f.firstServed(ctx, preview.Ref{Kind: "Kustomization", Namespace: m.namespace, Name: m.name},
			"kustomize.toolkit.fluxcd.io/v1", "kustomize.toolkit.fluxcd.io/v1beta2")
	case preview.ToolHelmRelease:
		return f.firstServed(ctx, preview.Ref{Kind: "HelmRelease", Namespace: m.namespace, Name: m.name},
			"helm.toolkit.fluxcd.io/v2", "helm.toolkit.fluxcd.io/v2beta2")
	case preview.ToolArgo:
		return f.applications(ctx, m.name)
	case preview.ToolCarvel:
		return f.carvelApps(ctx, m.name)
	}
	return nil
}

// firstServed reads an object in the first of the API versions that the cluster serves.
func (f *Finder) firstServed(ctx context.Context, ref preview.Ref, apis ...string) []preview.ReadResult {
	var r preview.ReadResult
	for _, ref.APIVersion = range apis {
		r = f.read(ctx, ref)
		if preview.ReasonOf(r.Err) != preview.ReasonNotServed {
			break
		}
	}
	return []preview.ReadResult{r}
}

// all returns the objects of a kind in all namespaces that satisfy wanted.
func (f *Finder) all(ctx context.Context, ref preview.Ref, selector string, wanted func(body map[string]any) bool) []preview.ReadResult {
	bodies, err := f.cluster.List(ctx, ref.APIVersion, ref.Kind, "", selector)
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

// applications finds the Argo CD Application that a tracking id,
// APPLICATION:GROUP/KIND:NAMESPACE/NAME, or an instance label names. An Application
// outside Argo CD's namespace is written NAMESPACE_NAME.
func (f *Finder) applications(ctx context.Context, name string) []preview.ReadResult {
	ref := preview.Ref{APIVersion: applicationAPI, Kind: "Application", Name: name}
	return f.all(ctx, ref, "", func(body map[string]any) bool {
		at := preview.RefOf(body)
		return at.Name == name || at.Namespace+"_"+at.Name == name
	})
}

// carvelApps finds kapp's record of an object: the ConfigMap whose labelValue is the
// value of the object's label. If kapp-controller created that, its App or
// PackageInstall is the owner.
func (f *Finder) carvelApps(ctx context.Context, label string) []preview.ReadResult {
	ref := preview.Ref{APIVersion: "v1", Kind: "ConfigMap", Name: "of-kapp-app-" + label}
	records := f.all(ctx, ref, "kapp.k14s.io/is-app", func(body map[string]any) bool {
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
			if r := f.read(ctx, kind); r.Err == nil && r.Body != nil {
				records[i] = r
				break
			}
		}
	}
	return records
}

// controlledApp returns the name of the App that owns kapp's ConfigMap record; ok is
// false if kapp-controller did not create it.
func controlledApp(record string) (name string, ok bool) {
	for _, suffix := range []string{".app", "-ctrl"} {
		if name, ok = strings.CutSuffix(record, suffix); ok {
			return name, true
		}
	}
	return "", false
}

// None reports whether no controller acts on the object.
func (c Controllers) None() bool { return len(c.Objects)+len(c.Hidden) == 0 }
