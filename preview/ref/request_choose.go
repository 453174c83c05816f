package ref

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/pipecd"
)

// requestKind is one kind of object that requests a release, such as an Argo CD
// Application, with the method that reads it.
type requestKind struct {
	group, kind string
	versions    []string
	ignored     []ignoredField
	read        func(r *reader, f *strictReader)
	// says are the fields that say the same as a flag of the command line, by the
	// flag's name.
	says map[string]string
}

// requestKinds returns the kinds of objects that can be requests.
func requestKinds() []requestKind {
	return []requestKind{
		{"kubectl-operator", KindRequest, []string{"v1alpha1"}, nil, (*reader).ownRequest, map[string]string{
			"version": "spec.package.version", "channel": "spec.package.channels", "install-mode": "spec.installMode", "watch-namespace": "spec.watchNamespaces",
			"values": "spec.values", "set": "spec.values", "certs": "spec.certs", "format": "spec.format", "path": "spec.path",
		}},
		{"core.rukpak.io", "BundleDeployment", []string{"v1alpha1", "v1alpha2"}, nil, (*reader).bundleDeployment, map[string]string{
			"version": "the source's reference", "values": "spec.config.values", "set": "spec.config.values", "format": "spec.provisionerClassName or spec.format",
		}},
		{"olm.operatorframework.io", "ClusterExtension", []string{"v1", "v1alpha1"}, ignoredInClusterExtension(), (*reader).clusterExtension, map[string]string{
			"version": "spec.source.catalog.version", "channel": "spec.source.catalog.channels", "values": "spec.config.inline", "set": "spec.config.inline",
			"install-mode": "spec.config.inline.watchNamespace", "watch-namespace": "spec.config.inline.watchNamespace",
		}},
		{olmGroup, "Subscription", []string{"v1alpha1"}, ignoredInSubscription(), (*reader).subscription, map[string]string{
			"version": "spec.startingCSV", "channel": "spec.channel", "values": "spec.config", "set": "spec.config",
		}},
		{"helm.toolkit.fluxcd.io", "HelmRelease", []string{"v2", "v2beta2", "v2beta1"}, ignoredInHelmRelease(), (*reader).helmRelease, map[string]string{
			"version": "the version of its chart", "values": "spec.values", "set": "spec.values", "path": "the path of its chart",
		}},
		{"kustomize.toolkit.fluxcd.io", "Kustomization", []string{"v1", "v1beta2"}, ignoredInKustomization(), (*reader).kustomization, map[string]string{
			"version": "the ref of its source", "path": "spec.path",
		}},
		{sourceGroup, "OCIRepository", []string{"v1", "v1beta2"}, ignoredInSource(), (*reader).ociRepository, map[string]string{"version": "spec.ref"}},
		{"argoproj.io", "Application", []string{"v1alpha1"}, ignoredInApplication(), (*reader).application, map[string]string{
			"version": "the source's targetRevision", "values": "the source's helm.values", "set": "the source's helm.values", "path": "the source's path",
		}},
		{appGroup, "App", []string{"v1alpha1"}, ignoredInApp(), (*reader).app, map[string]string{
			"version": "what it fetches", "values": "valuesFrom of its helmTemplate", "set": "valuesFrom of its helmTemplate", "path": "the paths of its template",
		}},
		{imgpkgGroup, "BundleLock", []string{"v1alpha1"}, nil, (*reader).bundleLock, map[string]string{"version": "bundle.image"}},
		{pipecd.Group, "KubernetesApp", []string{pipecd.Version}, nil, (*reader).pipecdApplication, nil},
		{pipecd.Group, "Application", []string{pipecd.Version}, nil, (*reader).pipecdApplication, nil},
	}
}

// Says returns the field of the request, or of an object that belongs to it, which says
// what a flag of the command line says; empty if it has none, and the flag can stand
// next to the file.
func (r *Request) Says(flag string) string {
	switch {
	case r.says[flag] != "":
		return r.says[flag]
	case strings.HasPrefix(flag, "set-"):
		return r.says["set"]
	case flag == "values-from-defaults":
		return r.says["values"]
	case flag == "format" && r.Format != "":
		return "its kind, which is of the format " + r.Format
	case flag == "path" && r.Path != "":
		return "the path of its source"
	case (flag == "install-mode" || flag == "watch-namespace") && r.InstallMode != "":
		return "spec.targetNamespaces of its OperatorGroup"
	}
	return ""
}

// Several reports whether the file has other requests.
func (r *Request) Several() bool { return len(r.others) > 0 }

// Name returns the name that finds the request again in [ReadRequests].
func (r *Request) Name() string {
	kind, name, _ := strings.Cut(r.Object, " ")
	if _, own, ok := strings.Cut(name, "/"); ok {
		name = own
	}
	return kind + "/" + name
}

// ReadRequests reads the objects of a request file that ask for a release each, and the
// objects they refer to. Objects missing from the file are read from more, which is nil
// if no cluster may be read. name selects one of several requests: NAME, NAMESPACE/NAME
// or KIND/NAME; empty reads all of them.
func ReadRequests(ctx context.Context, text []byte, more Objects, name string) ([]*Request, error) {
	documents, err := decodeRequest(text)
	if err != nil {
		return nil, err
	}
	all, err := chooseRequests(documents)
	if err != nil {
		return nil, err
	}
	chosen := all
	if name != "" {
		chosen = slices.DeleteFunc(slices.Clone(all), func(c candidate) bool { return !c.called(name) })
	}
	if len(chosen) == 0 || name != "" && len(chosen) > 1 {
		return nil, fmt.Errorf("%d of its requests are called %s; it holds %s", len(chosen), clip(name), listed(all, candidate.String))
	}
	var out []*Request
	for _, c := range chosen {
		r, err := readOne(ctx, text, documents, all, c, more)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// readOne reads one request of a file; all are the file's requests.
func readOne(ctx context.Context, text []byte, documents []document, all []candidate, c candidate, more Objects) (*Request, error) {
	own := slices.Clone(documents) // what is used by one request is not by another
	asked := &own[c.at]
	asked.used = true
	r := &reader{
		ctx: ctx, more: more, asked: asked,
		Request: &Request{Object: asked.String(), text: text, objects: own, index: asked.index, listed: asked.listed, says: c.kind.says, home: asked.Namespace},
	}
	for _, other := range all {
		if other.at != c.at {
			own[other.at].used = true
			r.others = append(r.others, other.String())
		}
	}
	r.ContentDigest = preview.String(asked.body, "metadata", "annotations", AnnotationContentDigest)
	f := newStrictReader(r.Object, asked.body, c.kind.ignored)
	c.kind.read(r, f)
	switch err := f.err(); {
	case !f.Failed() && r.err != nil:
		return nil, fmt.Errorf("%s: %w", r.Object, r.err)
	case err != nil:
		return nil, err
	}
	r.renameRelease()
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", r.Object, err)
	}
	return r.Request, nil
}

// maxDocuments is how many objects of a request file are read.
const maxDocuments = 1000

// decodeRequest returns the objects of a request file, those in a List each.
func decodeRequest(text []byte) ([]document, error) {
	decoded, err := preview.Decode(text)
	if err != nil {
		return nil, err
	}
	out := make([]document, 0, len(decoded))
	for i, v := range decoded {
		bodies, err := preview.Flatten(v)
		if err != nil {
			return nil, fmt.Errorf("document %d is not an object with apiVersion and kind", i+1)
		}
		whole, _ := v.(map[string]any)
		for _, body := range bodies {
			d := document{Ref: preview.RefOf(body), body: body, index: i, listed: len(bodies) != 1 || preview.String(whole, "kind") != preview.String(body, "kind")}
			if d.Name == "" && d.Group() == pipecd.Group {
				d.Name = preview.String(body, "spec", "name") // of a file that is no object
			}
			if d.Name == "" && d.Group() == imgpkgGroup {
				d.Name = lockName(body)
			}
			if len(d.Name) > maxName || len(d.Namespace) > maxName {
				return nil, fmt.Errorf("document %d, a %s, has no usable metadata.name and namespace", i+1, clip(d.Kind))
			}
			out = append(out, d)
		}
	}
	if len(out) > maxDocuments {
		return nil, fmt.Errorf("%d objects; at most %d are read", len(out), maxDocuments)
	}
	return out, nil
}

// candidate is a document that asks for a release.
type candidate struct {
	*document
	at   int // among the documents
	kind *requestKind
}

// called reports whether the user's name selects the request.
func (c candidate) called(name string) bool {
	return name == c.Name || name == c.Namespace+"/"+c.Name || name == c.Kind+"/"+c.Name
}

// chooseRequests returns the documents that are requests. None is an error that says
// what the file holds instead. A Flux source object counts only if there is no other
// request, and then only alone.
func chooseRequests(documents []document) ([]candidate, error) {
	kinds := requestKinds()
	var asking, sources []candidate
	for i := range documents {
		d := &documents[i]
		at := slices.IndexFunc(kinds, func(k requestKind) bool { return k.group == d.Group() && k.kind == d.Kind })
		if at < 0 {
			continue
		}
		if _, version, _ := strings.Cut(d.APIVersion, "/"); !slices.Contains(kinds[at].versions, version) {
			return nil, fmt.Errorf("%s is of %s; known are: %s", d, clip(d.APIVersion), strings.Join(kinds[at].versions, ", "))
		}
		if !IsName(d.Name) || d.Namespace != "" && !isLabel(d.Namespace) {
			return nil, fmt.Errorf("document %d, a %s, has no usable metadata.name and namespace", d.index+1, clip(d.Kind))
		}
		if c := (candidate{d, i, &kinds[at]}); c.kind.group == sourceGroup {
			sources = append(sources, c)
		} else {
			asking = append(asking, c)
		}
	}
	switch {
	case len(asking) > maxRequests:
		return nil, fmt.Errorf("it holds %d requests; at most %d are planned at once", len(asking), maxRequests)
	case len(asking) > 0:
		return asking, nil
	case len(sources) > 0:
		return sources, nil
	}
	return nil, noRequest(documents)
}

// maxRequests is how many requests of one file are planned.
const maxRequests = 50

// ErrNoRequest is in the error for a file without a request.
var ErrNoRequest = errors.New("no request")

// noRequest returns the error for a file without a request, with what to do about what
// it holds.
func noRequest(documents []document) error {
	if len(documents) == 0 {
		return fmt.Errorf("it holds no object, and %w", ErrNoRequest)
	}
	var names []string
	for _, k := range requestKinds() {
		if !slices.Contains(names, k.kind) {
			names = append(names, k.kind)
		}
	}
	held := fmt.Errorf("it holds %s, and %w", listed(documents, func(d document) string { return d.String() }), ErrNoRequest)
	for i := range documents {
		switch d := &documents[i]; d.Group() {
		case "olm.operatorframework.io", olmGroup:
			if image := catalogImage(d); image != "" {
				return repeating("%w; a %s is a catalog: %s", held, d.Kind, commandline.Operator("catalog", "add", clip(d.Name), image))
			}
		case sourceGroup:
			return fmt.Errorf("%w; a %s is what a request refers to: add the file that does, or name the directory of both with -f", held, clip(d.Kind))
		}
	}
	return repeating("%w, which is a %s; a directory of objects that are applied as they are is named without -f: %s", held, strings.Join(names, ", "), commandline.Operator("preview", "./DIR"))
}

// repeating returns an error about what a request file holds, with a command that repeats
// the flags of the command line but those that name the file.
func repeating(text string, held error, what, command string) error {
	return &commandline.Advised{
		Err: fmt.Errorf(text, held, what, command), Commands: []string{command}, Scope: commandline.All, Without: []string{"filename", "request"},
	}
}

// maxListed is how many objects a message names (12).
const maxListed = 12

// listed returns the names of items as one text, and how many more there are.
func listed[T any](items []T, name func(T) string) string {
	names := make([]string, 0, maxListed)
	for _, item := range items[:min(len(items), maxListed)] {
		names = append(names, name(item))
	}
	if n := len(items) - maxListed; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names, ", "), n)
	}
	return strings.Join(names, ", ")
}
