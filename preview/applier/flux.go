package applier

import (
	"cmp"
	"context"
	"regexp"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// readControlled reads what a controller follows as it is in the cluster, in the version of
// ref or, if that is not served, the one that controllers have now; nil if it is not there.
// What may not be read is a limit.
func readControlled(ctx context.Context, cluster Cluster, ref preview.Ref, about *preview.Applier) (map[string]any, error) {
	current := map[string]string{HelmReleaseGroup: "/v2", KustomizationGroup: "/v1"}
	for _, version := range []string{ref.APIVersion, ref.Group() + current[ref.Group()]} {
		ref.APIVersion = version
		read := cluster.Read(ctx, []preview.Ref{ref})[0]
		switch {
		case read.Err == nil:
			return read.Body, nil
		case preview.ReasonOf(read.Err) == preview.ReasonNotServed:
		case preview.Answered(read.Err):
			addLimit(about, preview.ApplierLimit{What: preview.LimitNotRead, Object: ref.ID()})
			return nil, nil
		default:
			return nil, read.Err
		}
	}
	return nil, nil
}

// lackedSource returns what a HelmRelease reads its chart from, and whether that does not exist.
func lackedSource(ctx context.Context, cluster Cluster, origin preview.Ref, spec map[string]any) (ref preview.Ref, lacks bool) {
	from := preview.Map(spec, "chartRef")
	if from == nil {
		from = preview.Map(spec, "chart", "spec", "sourceRef")
	}
	ref = preview.Ref{APIVersion: "source.toolkit.fluxcd.io/v1", Kind: preview.String(from, "kind"), Namespace: cmp.Or(preview.String(from, "namespace"), origin.Namespace), Name: preview.String(from, "name")}
	if ref.Kind == "" || ref.Name == "" {
		return ref, false
	}
	read := cluster.Read(ctx, []preview.Ref{ref})[0]
	return ref, read.Err == nil && read.Body == nil
}

// waitsFor adds as limits the objects of dependsOn that are not ready.
func waitsFor(ctx context.Context, cluster Cluster, about *preview.Applier, origin preview.Ref, spec map[string]any) error {
	for _, on := range preview.Maps(spec, "dependsOn") {
		ref := preview.Ref{APIVersion: origin.APIVersion, Kind: origin.Kind, Namespace: cmp.Or(preview.String(on, "namespace"), origin.Namespace), Name: preview.String(on, "name")}
		live, err := readControlled(ctx, cluster, ref, about)
		if err != nil {
			return err
		}
		if !isReady(live) {
			addLimit(about, preview.ApplierLimit{What: preview.LimitWaits, Object: ref.ID()})
		}
	}
	return nil
}

// isReady reports whether an object of Flux says that it is ready.
func isReady(body map[string]any) bool {
	for _, condition := range preview.Maps(preview.Map(body, "status"), "conditions") {
		if preview.String(condition, "type") == "Ready" {
			return preview.String(condition, "status") == "True"
		}
	}
	return false
}

// withIgnored returns the planned object with the fields as they are live that rules say to
// ignore: JSON pointers, for the objects of a target.
func withIgnored(o *preview.Object, body map[string]any, rules []map[string]any) map[string]any {
	out := body
	for _, rule := range rules {
		if target := preview.Map(rule, "target"); target != nil && !targets(target, body) {
			continue
		}
		for _, pointer := range preview.Texts(rule["paths"]) {
			if o.LiveBody != nil {
				out = preview.CloneBody(out)
				keepLive(out, o.LiveBody, pointerTokens(pointer))
			}
		}
	}
	return out
}

// pointerTokens returns the keys and indexes of a JSON pointer (RFC 6901).
func pointerTokens(pointer string) []string {
	tokens := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, token := range tokens {
		tokens[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
	}
	return tokens
}

// targets reports whether a selector of Flux selects an object. Its texts are regular
// expressions of the whole (fluxcd/pkg/ssa v0.76.2, jsondiff/selector.go).
func targets(target, body map[string]any) bool {
	ref := preview.RefOf(body)
	group, version, found := strings.Cut(ref.APIVersion, "/")
	if !found {
		group, version = "", group
	}
	for field, is := range map[string]string{"group": group, "version": version, "kind": ref.Kind, "name": ref.Name, "namespace": ref.Namespace} {
		want := preview.String(target, field)
		if want == "" {
			continue
		}
		expression, err := regexp.Compile("^(?:" + want + ")$")
		if err != nil || !expression.MatchString(is) {
			return false
		}
	}
	for field, selector := range map[string]string{"labels": preview.String(target, "labelSelector"), "annotations": preview.String(target, "annotationSelector")} {
		for term := range strings.SplitSeq(selector, ",") {
			key, value, equal := strings.Cut(term, "=")
			if is, has := preview.Map(body, "metadata", field)[strings.TrimSpace(key)]; term != "" && (!has || equal && is != strings.TrimSpace(strings.TrimPrefix(value, "="))) {
				return false
			}
		}
	}
	return true
}

// keepLive sets the value at a path of a planned object to that of the live one, and removes
// it if that has none, as Flux does, which takes the fields out of both. Argo CD leaves what it
// cannot copy: [copyAt].
func keepLive(planned, live any, path []string) {
	key := path[0]
	switch in := planned.(type) {
	case map[string]any:
		from, _ := live.(map[string]any)
		was, has := from[key]
		switch {
		case len(path) > 1:
			keepLive(in[key], was, path[1:])
		case has:
			in[key] = was
		default:
			delete(in, key)
		}
	case []any:
		from, _ := live.([]any)
		i, err := strconv.Atoi(key)
		switch {
		case err != nil || i < 0 || i >= len(in) || i >= len(from):
		case len(path) > 1:
			keepLive(in[i], from[i], path[1:])
		default:
			in[i] = from[i]
		}
	}
}
