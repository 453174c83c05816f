package risk

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Who in the package may write the status of an object of an unknown kind acts on it: so
// the account is named beside it, with what it comes to.
func TestWhoOfThePackageActsOnUnknownKindsIsNamed(t *testing.T) {
	const (
		thing = "{apiVersion: example.com/v1, kind: Policy, metadata: {name: x, namespace: app}}\n---\n"
		acts  = "; example.com/Policy: ServiceAccount app/op may change its status, and so acts on it"
	)
	for _, test := range []struct {
		name, plan string
		want       string // end of the evidence
	}{
		{"by its status", holding("app", "op", "app", "example.com|policies/status|patch"), acts},
		{"by its finalizers", holding("app", "op", "", "example.com|policies/finalizers|update"), acts},
		{"by those of every kind of the group", holding("app", "op", "", "example.com|*|*"), acts},
		{"and is an administrator", holding("app", "op", "", "example.com|policies/status|update") + granting("all", "app", "op", "", "*|*|*"), acts + ": cluster-admin in effect"},
		{"and becomes one", holding("app", "op", "", "example.com|policies/status|update") + granting("exec", "app", "op", "app", "|pods/exec|create") + holding("app", "strong", "", "|secrets|list"),
			acts + ": can read the Secrets of every namespace, through other accounts"},
		{"two of them", holding("app", "op", "app", "example.com|policies/status|patch") + holding("app", "second", "app", "example.com|policies/finalizers|patch"), acts + strings.ReplaceAll(acts, "/op", "/second")},
		{"who writes such objects only orders", holding("app", "op", "app", "example.com|policies|create"), ""},
		{"another kind of the group", holding("app", "op", "app", "example.com|things/status|update"), ""},
		{"another group", holding("app", "op", "app", "example.org|policies/status|update"), ""},
		{"reading it", holding("app", "op", "app", "example.com|policies/status|get"), ""},
		{"a wildcard over groups says nothing", holding("app", "op", "", "*|*|*"), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := find(evaluate(t, Input{Plan: planOf(t, test.plan+thing)}), "unknown-kind")
			if f == nil || f.Severity != preview.NotKnown {
				t.Fatalf("the kind is not shown as unknown: %+v", f)
			}
			if want := "example.com/Policy/app/x" + test.want; f.Evidence != want {
				t.Errorf("evidence %q, want %q", f.Evidence, want)
			}
		})
	}
}

// Numbers name no code, account, path or host; what has no content may be an order by its
// kind alone.
func TestAnObjectOfAnUnknownKindThatHoldsNumbersAloneIsAWarning(t *testing.T) {
	for spec, want := range map[string]preview.Severity{
		"spec: {size: 3, values: {a: null, limits: [1, 2.5]}}": preview.Warning,
		"spec: {size: 3, image: x}":                            preview.NotKnown,
		"spec: {size: 3, privileged: true}":                    preview.NotKnown,
		"spec: {}":                                             preview.NotKnown,
		"":                                                     preview.NotKnown,
	} {
		f := find(evaluate(t, Input{Plan: planOf(t, "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: x, namespace: app}\n"+spec)}), "unknown-kind")
		if f == nil || f.Severity != want {
			t.Errorf("%q: %+v, want %s", spec, f, want)
		}
	}
	both := "{apiVersion: example.com/v1, kind: Thing, metadata: {name: x}, spec: {a: 1}}\n---\n{apiVersion: example.com/v1, kind: Thing, metadata: {name: y}, spec: {a: b}}"
	if f := find(evaluate(t, Input{Plan: planOf(t, both)}), "unknown-kind"); f == nil || f.Severity != preview.NotKnown {
		t.Errorf("one of two: %+v", f)
	}
}

// In its own namespace the package may order what it could do there itself: as of known
// kinds, that is a warning. A right in all namespaces beside it, or in one of others'
// controllers, is not known.
func TestUnknownKindsInTheOwnNamespaceAreAWarning(t *testing.T) {
	own, wide := holding("app", "op", "app", "example.com|things|create"), holding("app", "web", "", "example.com|things|create")
	for name, test := range map[string]struct {
		plan string
		want preview.Severity
	}{
		"in its own":                    {own, preview.Warning},
		"everywhere":                    {wide, preview.NotKnown},
		"both":                          {own + wide, preview.NotKnown},
		"both, in another order":        {wide + own, preview.NotKnown},
		"in that of a known controller": {holding("app", "op", "argocd", "example.com|things|create"), preview.NotKnown},
	} {
		if f := find(evaluate(t, Input{Plan: planOf(t, strings.TrimSuffix(test.plan, "---\n"))}), "rbac-unknown-kind"); f == nil || f.Severity != test.want {
			t.Errorf("%s: %+v, want %s", name, f, test.want)
		}
	}
}

// The same of what accounts may write of a group that is not known.
func TestWhoOfThePackageActsOnWhatMayBeWrittenIsNamed(t *testing.T) {
	const writes = "ServiceAccount app/web cluster-wide: create on things in example.com"
	web := holding("app", "web", "", "example.com|things|create")
	for _, test := range []struct {
		name, plan string
		want       string // evidence
	}{
		{"by its status", holding("app", "op", "app", "example.com|things/status|patch") + web, writes + "; example.com/things: ServiceAccount app/op may change its status, and so acts on it"},
		{"of one of every resource", holding("app", "op", "", "example.com|things/finalizers|update") + strings.Replace(web, "'things'", "'*'", 1),
			"ServiceAccount app/web cluster-wide: create on all resources in example.com; example.com/*: ServiceAccount app/op may change its status, and so acts on it"},
		{"of another resource", holding("app", "op", "", "example.com|others/status|update") + web, writes},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := find(evaluate(t, Input{Plan: planOf(t, strings.TrimSuffix(test.plan, "---\n"))}), "rbac-unknown-kind")
			if f == nil || f.Severity != preview.NotKnown || f.Evidence != test.want {
				t.Errorf("found %+v, want %s", f, test.want)
			}
		})
	}
}
