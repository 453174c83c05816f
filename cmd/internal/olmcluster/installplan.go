package olmcluster

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/owners"
)

// installPlanKind is the kind of an InstallPlan.
const installPlanKind = "InstallPlan"

// planReader is a cluster as far as this package reads it.
type planReader interface {
	// Get returns nil and no error for an object that does not exist.
	Get(ctx context.Context, ref preview.Ref) (map[string]any, error)
}

// planWriter is a cluster as far as this package writes to it.
type planWriter interface {
	planReader
	Patch(ctx context.Context, ref preview.Ref, ops []preview.PatchOp) (map[string]any, error)
}

// approvedPlan is the annotation of a Subscription and of an InstallPlan with the digest of
// the plan that was approved here: it is the record of what was reviewed, as OLM itself
// keeps only that an InstallPlan was approved.
const approvedPlan = "kubectl-operator/approved"

// reviewedBundles are the bundles that the user approved in this program, which then approves
// them in the InstallPlan of the cluster.
type reviewedBundles struct {
	Bundles []bundle // the package's own first, then those that it depends on
	Digest  string   // of the approved plan
	Timeout time.Duration
}

// bundle is a bundle of the plan that was reviewed.
type bundle struct {
	Name   string // of its ClusterServiceVersion
	Digest string // of its image
	// Package, Channel and Catalog (NAMESPACE/NAME of a CatalogSource) are where the review
	// found it.
	Package, Channel, Catalog string
	// Manifests are the objects in its directory manifests.
	Manifests []map[string]any
}

// interval is the time between two reads of an object that OLM changes.
const interval = time.Second

// maxUnpacked is the most bytes of one object in a ConfigMap of OLM.
const maxUnpacked = 16 << 20

// planNames returns the names of the ClusterServiceVersions that an InstallPlan installs.
func planNames(plan map[string]any) []string {
	var out []string
	for _, name := range preview.List(plan, "spec", "clusterServiceVersionNames") {
		out = append(out, fmt.Sprint(name))
	}
	return out
}

// awaitPlan reads an object until done says so, or the time is over: then it returns the
// object as it was last, and the error of ctx.
func awaitPlan(ctx context.Context, cluster planReader, at preview.Ref, done func(map[string]any) bool) (map[string]any, error) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	var last map[string]any
	for {
		object, err := cluster.Get(ctx, at)
		switch {
		case err != nil && ctx.Err() != nil:
			return last, ctx.Err()
		case err != nil:
			return last, fmt.Errorf("reading %s: %w", at.ID(), err)
		case object != nil && done(object):
			return object, nil
		}
		last = object
		select {
		case <-ctx.Done():
			return last, ctx.Err()
		case <-ticker.C:
		}
	}
}

// Approve approves an InstallPlan at the version that was compared with the review.
func (in *reviewedBundles) Approve(ctx context.Context, cluster planWriter, plan map[string]any, say func(string)) error {
	at := preview.RefOf(plan)
	approved, _ := preview.Value(plan, "spec", "approved").(bool)
	if err := comparePlan(ctx, cluster, in.Bundles, plan); err != nil {
		if approved {
			return fmt.Errorf("%s was approved by another user, and is not what was reviewed: %w", at.ID(), err)
		}
		return planning.Refuse(fmt.Sprintf("%s is not what was reviewed: %s", at.ID(), err), "nothing is approved; review again, or delete the Subscription")
	}
	if approved {
		say(at.ID() + " is what was reviewed, and was approved by another user meanwhile")
		return nil
	}
	version := preview.ResourceVersion(plan)
	ops := []preview.PatchOp{
		{Op: "test", Path: "/metadata/uid", Value: preview.UID(plan)}, {Op: "test", Path: "/metadata/resourceVersion", Value: version},
		{Op: "replace", Path: "/spec/approved", Value: true},
	}
	if preview.Map(plan, "metadata", "annotations") == nil {
		ops = append(ops, preview.PatchOp{Op: "add", Path: "/metadata/annotations", Value: map[string]any{approvedPlan: in.Digest}})
	} else {
		ops = append(ops, preview.PatchOp{Op: "add", Path: "/metadata/annotations/" + strings.ReplaceAll(approvedPlan, "/", "~1"), Value: in.Digest})
	}
	if _, err := cluster.Patch(ctx, at, ops); err != nil {
		changed, readErr := cluster.Get(ctx, at)
		if readErr == nil && changed != nil && preview.ResourceVersion(changed) != version {
			return in.Approve(ctx, cluster, changed, say) // OLM or another user changed it: it is compared again
		}
		return fmt.Errorf("approving %s: %w", at.ID(), err)
	}
	// OLM carries out what the ConfigMaps hold after the approval, so they are read again:
	// no precondition of the InstallPlan covers them.
	if err := comparePlan(ctx, cluster, in.Bundles, plan); err != nil {
		return fmt.Errorf("%s was approved, but the content that OLM unpacked for it changed: %w; check the installed objects before you rely on them", at.ID(), err)
	}
	say("approved " + at.ID() + ", which holds " + in.Names())
	return nil
}

// planNames returns the names of the bundles, as a list.
func (in *reviewedBundles) Names() string {
	var names []string
	for _, b := range in.Bundles {
		names = append(names, b.Name)
	}
	return strings.Join(names, ", ")
}

// comparePlan returns an error unless an InstallPlan holds the reviewed bundles and nothing
// else: by the names of their ClusterServiceVersions, the digests of their images, and
// every object that OLM unpacked from them.
func comparePlan(ctx context.Context, cluster planReader, bundles []bundle, plan map[string]any) error {
	names, want := planNames(plan), map[string]*bundle{}
	for i := range bundles {
		want[bundles[i].Name] = &bundles[i]
	}
	for _, name := range names {
		if want[name] == nil {
			return fmt.Errorf("it installs %s too", name)
		}
	}
	for _, b := range bundles {
		if !slices.Contains(names, b.Name) {
			return fmt.Errorf("it installs %s, and not %s", strings.Join(names, ", "), b.Name)
		}
	}
	for _, l := range preview.List(plan, "status", "bundleLookups") {
		lookup, _ := l.(map[string]any)
		b, path := want[preview.String(lookup, "identifier")], preview.String(lookup, "path")
		if b == nil {
			return fmt.Errorf("it reads the bundle %s too", path)
		}
		if _, digest, pinned := strings.Cut(path, "@"); pinned && digest != b.Digest {
			return fmt.Errorf("it reads %s from %s, and reviewed was %s", b.Name, path, b.Digest)
		}
	}
	return compareSteps(ctx, cluster, plan, bundles)
}

// unpacked is the reference in a step of an InstallPlan to where OLM unpacked a bundle.
type unpacked struct {
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// compareSteps compares the objects of the steps with those that were reviewed. Each bundle
// is unpacked into a ConfigMap next to the catalog; further steps are the accounts and
// roles that OLM makes of the ClusterServiceVersion in it, and of it alone.
func compareSteps(ctx context.Context, cluster planReader, plan map[string]any, bundles []bundle) error {
	seen, want := map[string]unpacked{}, map[string]*bundle{}
	for i := range bundles {
		want[bundles[i].Name] = &bundles[i]
	}
	for _, s := range preview.List(plan, "status", "plan") {
		step, _ := s.(map[string]any)
		resolving, kind, name := preview.String(step, "resolving"), preview.String(step, "resource", "kind"), preview.String(step, "resource", "name")
		manifest := preview.String(step, "resource", "manifest")
		if kind == owners.SubscriptionKind && len(bundles) > 1 {
			if err := compareSubscription(manifest, preview.String(plan, "metadata", "namespace"), bundles[1:]); err != nil {
				return fmt.Errorf("%s %s: %w", kind, name, err)
			}
			continue
		}
		var from unpacked
		if err := json.Unmarshal([]byte(manifest), &from); err != nil || from.Kind != "ConfigMap" || from.Name == "" || kind == owners.SubscriptionKind {
			return fmt.Errorf("%s %s is written in it, and not in the image of %s", kind, name, resolving)
		}
		if want[resolving] == nil {
			return fmt.Errorf("%s %s is of %q, which was not reviewed", kind, name, resolving)
		}
		if before, ok := seen[resolving]; ok && before != from {
			return fmt.Errorf("%s is unpacked into several ConfigMaps", resolving)
		}
		seen[resolving] = from
	}
	for name, b := range want {
		from, ok := seen[name]
		if !ok {
			return fmt.Errorf("it has no object of %s", name)
		}
		body, err := cluster.Get(ctx, preview.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: from.Namespace, Name: from.Name})
		if err != nil || body == nil {
			return fmt.Errorf("what OLM unpacked of %s cannot be read, ConfigMap %s in namespace %s: %w", name, from.Name, from.Namespace, cmp.Or(err, errGone))
		}
		objects, err := contents(body)
		if err != nil {
			return fmt.Errorf("ConfigMap %s in namespace %s, of %s: %w", from.Name, from.Namespace, name, err)
		}
		if text := difference(objects, b.Manifests); text != "" {
			return fmt.Errorf("of %s %s", name, text)
		}
	}
	return nil
}

// subscription is the Subscription that OLM makes for a package that another depends on.
// It has no other fields (NewSubscriptionStepResource of OLM v0.40).
type subscription struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name, Namespace   string
		CreationTimestamp any
	} `json:"metadata"`
	Spec struct {
		Name, Channel, Source, SourceNamespace, StartingCSV, InstallPlanApproval string
	} `json:"spec"`
	Status struct{ LastUpdated any } `json:"status"`
}

// compareSubscription returns an error unless the Subscription in a step is to one of the
// dependencies as reviewed: its version, package, channel and catalog, and nothing else.
// Whether it approves upgrades by itself does not matter next to the package's own, which
// does not: then OLM approves none of the namespace.
func compareSubscription(manifest, namespace string, dependencies []bundle) error {
	var is subscription
	decoder := json.NewDecoder(strings.NewReader(manifest))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&is); err != nil {
		return fmt.Errorf("it says more than OLM makes it say: %w", err)
	}
	if is.Kind != owners.SubscriptionKind || is.APIVersion != owners.OLMAPI || is.Metadata.Namespace != namespace {
		return fmt.Errorf("it is a %s in namespace %q", cmp.Or(is.Kind, "text without kind"), is.Metadata.Namespace)
	}
	for _, b := range dependencies {
		if is.Spec.StartingCSV != b.Name {
			continue
		}
		has := bundle{Package: is.Spec.Name, Channel: is.Spec.Channel, Catalog: is.Spec.SourceNamespace + "/" + is.Spec.Source}
		if has.Package != b.Package || has.Channel != b.Channel || has.Catalog != b.Catalog {
			return fmt.Errorf("it takes %s from package %s, channel %s of catalog %s, and reviewed was package %s, channel %s of catalog %s",
				b.Name, has.Package, has.Channel, has.Catalog, b.Package, b.Channel, b.Catalog)
		}
		return nil
	}
	return fmt.Errorf("it starts with %q, which was not reviewed as a dependency", is.Spec.StartingCSV)
}

var errGone = errors.New("it is gone")

// contents returns the objects of a bundle in a ConfigMap of OLM.
func contents(body map[string]any) ([]map[string]any, error) {
	var out []map[string]any
	texts := map[string]string{}
	for key, value := range preview.Map(body, "data") {
		texts[key], _ = value.(string)
	}
	for key, value := range preview.Map(body, "binaryData") { // base64 of what OLM wrote, which is base64 of gzip
		text, _ := value.(string)
		outer, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, err
		}
		reader, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(outer)))
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(io.LimitReader(reader, maxUnpacked))
		if err != nil {
			return nil, err
		}
		texts[key] = string(data)
	}
	for _, text := range texts {
		objects, err := preview.Decode([]byte(text))
		if err != nil {
			return nil, err
		}
		for _, object := range objects {
			if body, ok := object.(map[string]any); ok && preview.String(body, "kind") != "" {
				out = append(out, body)
			}
		}
	}
	return out, nil
}

// difference returns how two sets of objects differ, empty if they are the same.
func difference(have, want []map[string]any) string {
	all := map[string]map[string]any{}
	for _, object := range want {
		all[key(object)] = object
	}
	for _, object := range have {
		reviewed, ok := all[key(object)]
		switch {
		case !ok:
			return key(object) + " is added"
		case !equalObjects(object, reviewed):
			return key(object) + " is another"
		}
		delete(all, key(object))
	}
	for name := range all {
		return name + " is missing"
	}
	return ""
}

func key(object map[string]any) string { return preview.RefOf(object).ID() }

// equalObjects reports whether the canonical JSON of two objects is the same; an object
// without one is equal to nothing.
func equalObjects(a, b map[string]any) bool {
	first, err := preview.Canonical(a)
	if err != nil {
		return false
	}
	second, err := preview.Canonical(b)
	return err == nil && bytes.Equal(first, second)
}

// Installed waits until the ClusterServiceVersion of the package has succeeded.
func (in *reviewedBundles) Installed(ctx context.Context, cluster planReader, namespace string, say func(string)) error {
	at := preview.Ref{APIVersion: owners.OLMAPI, Kind: owners.CSVKind, Namespace: namespace, Name: in.Bundles[0].Name}
	phase := ""
	csv, err := awaitPlan(ctx, cluster, at, func(csv map[string]any) bool {
		if now := preview.String(csv, "status", "phase"); now != phase {
			phase = now
			say(fmt.Sprintf("%s: %s %s", at.ID(), phase, preview.String(csv, "status", "message")))
		}
		return phase == "Succeeded" || phase == "Failed"
	})
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s is not installed within %s: %s; OLM goes on with it", at.ID(), in.Timeout, phaseText(csv))
	case err != nil:
		return err
	case phase == "Failed":
		return fmt.Errorf("OLM could not install %s: %s", at.ID(), phaseText(csv))
	}
	return nil
}

func phaseText(csv map[string]any) string {
	if csv == nil {
		return "it does not exist yet"
	}
	return strings.TrimSuffix(preview.String(csv, "status", "phase")+": "+preview.String(csv, "status", "message"), ": ")
}
