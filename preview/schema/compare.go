package schema

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/version"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// Compare returns the changes of a CustomResourceDefinition (apiextensions.k8s.io/v1)
// that take something from its users, sorted. stored is the old CRD's
// status.storedVersions. Schemas are compared for each version that both CRDs have, and
// between any two served versions of the new CRD; of the latter, differences that the
// old CRD had too are left out. If there is a conversion webhook, versions are not
// compared with each other, as the webhook may bridge any difference. The texts of
// issues have field names and values of both CRDs and must be escaped by textsafe.
func Compare(before, after map[string]any, stored []string) []Issue {
	issues := compareSpecs(before, after)
	olds, news := versionsOf(before), versionsOf(after)
	for _, name := range slices.Sorted(maps.Keys(olds)) {
		was, is := olds[name], news[name]
		isStored := slices.Contains(stored, name)
		switch {
		case is == nil && isStored:
			issues = append(issues, Issue{rules.CRDStoredVersionRemoved, preview.Critical, name, "", "stored version", "defined", "none"})
		case served(was) && !served(is):
			after := "defined, not served"
			if is == nil {
				after = "none"
			}
			issues = append(issues, Issue{rules.CRDVersionNotServed, preview.Warning, name, "", "version", "served", after})
		}
		if is != nil {
			issues = append(issues, compareSchemas(name, schemaOf(was), schemaOf(is))...)
		}
	}
	for _, name := range stored {
		if olds[name] == nil && news[name] == nil {
			issues = append(issues, Issue{rules.CRDStoredVersionRemoved, preview.Critical, name, "", "stored version", "not defined", "none"})
		}
	}
	issues = append(issues, comparePairs(before, after)...)
	slices.SortFunc(issues, compareIssues)
	return slices.CompactFunc(issues, func(a, b Issue) bool { return compareIssues(a, b) == 0 })
}

func compareIssues(a, b Issue) int {
	return cmp.Or(strings.Compare(a.Rule.Name, b.Rule.Name), strings.Compare(a.Version, b.Version), strings.Compare(a.Path, b.Path),
		strings.Compare(a.What, b.What), strings.Compare(a.Before, b.Before), strings.Compare(a.After, b.After))
}

func compareSpecs(before, after map[string]any) []Issue {
	var issues []Issue
	if was, is := preview.String(before, "spec", "scope"), preview.String(after, "spec", "scope"); was != is {
		issues = append(issues, Issue{rules.CRDScopeChanged, preview.Critical, "", "", "scope", text(was), text(is)})
	}
	if was, is := strategy(before), strategy(after); was != is {
		issues = append(issues, Issue{rules.CRDConversionChanged, preview.Warning, "", "", "conversion", was, is})
	} else if was == "Webhook" {
		for _, part := range []string{"service", "url"} {
			old := preview.Value(before, "spec", "conversion", "webhook", "clientConfig", part)
			now := preview.Value(after, "spec", "conversion", "webhook", "clientConfig", part)
			if part == "service" {
				old, now = service(old), service(now)
			}
			if text(old) != text(now) {
				issues = append(issues, Issue{rules.CRDConversionChanged, preview.Info, "", "", "webhook " + part, text(old), text(now)})
			}
		}
	}
	return issues
}

// service returns the Service of a conversion webhook as text, with default port; nil
// if there is none.
func service(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	port := "443"
	if m["port"] != nil {
		port = text(m["port"])
	}
	return preview.String(m, "namespace") + "/" + preview.String(m, "name") + ":" + port + preview.String(m, "path")
}

func strategy(definition map[string]any) string {
	if s := preview.String(definition, "spec", "conversion", "strategy"); s != "" {
		return s
	}
	return "None"
}

func versionsOf(definition map[string]any) map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, v := range preview.Maps(preview.Map(definition, "spec"), "versions") {
		out[preview.String(v, "name")] = v
	}
	return out
}

func served(v map[string]any) bool { return v["served"] == true }

func schemaOf(v map[string]any) map[string]any { return preview.Map(v, "schema", "openAPIV3Schema") }

// comparePairs compares the served versions of the new CRD with each other, and leaves
// out differences that the old CRD had too.
func comparePairs(before, after map[string]any) []Issue {
	if strategy(after) == "Webhook" {
		return nil
	}
	known := map[string]bool{}
	for _, issue := range pairs(before) {
		known[issue.String()] = true
	}
	var out []Issue
	for _, issue := range pairs(after) {
		if !known[issue.String()] {
			out = append(out, issue)
		}
	}
	return out
}

func pairs(definition map[string]any) []Issue {
	versions := versionsOf(definition)
	names := slices.Sorted(maps.Keys(versions))
	names = slices.DeleteFunc(names, func(name string) bool { return !served(versions[name]) })
	slices.SortStableFunc(names, version.CompareKubeAwareVersionStrings)
	names = names[:min(len(names), maxVersions)]
	var out []Issue
	for i, older := range names {
		for _, newer := range names[i+1:] {
			for _, issue := range compareSchemas(older+" to "+newer, schemaOf(versions[older]), schemaOf(versions[newer])) {
				issue.Rule, issue.Severity = rules.CRDVersionsDiffer, preview.Info
				out = append(out, issue)
			}
		}
	}
	return out
}

// LiveVersions returns the versions of a live CRD that are served or may be stored,
// sorted.
func LiveVersions(definition map[string]any) []string {
	stored := preview.Texts(preview.List(definition, "status", "storedVersions"))
	var out []string
	for name, v := range versionsOf(definition) {
		if served(v) || slices.Contains(stored, name) {
			out = append(out, name)
		}
	}
	slices.SortFunc(out, version.CompareKubeAwareVersionStrings)
	return out
}

// SameSchema reports whether versions of a CRD have the same schema, so that an object of
// one is an object of each other with no other change than its apiVersion.
func SameSchema(definition map[string]any, versions []string) bool {
	all := versionsOf(definition)
	return !slices.ContainsFunc(versions, func(name string) bool {
		return all[name] == nil || !reflect.DeepEqual(schemaOf(all[name]), schemaOf(all[versions[0]]))
	})
}

// maxVersions is the most served versions that are compared with each other.
const maxVersions = 12
