// Package conversion says whose objects the conversion webhook of a
// CustomResourceDefinition is sent. Its server reads and rewrites every object of the
// kind, in each request that asks for another version than the stored one, without any
// right in RBAC.
package conversion

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/deputy"
)

// Webhook is what a CustomResourceDefinition says of the conversion of its objects.
type Webhook struct {
	Body    map[string]any // spec.conversion.webhook
	Service preview.Ref    // that answers; no name if the webhook has none
	// Kind is the row of the kind in the table of operators' kinds; Known is false if the
	// table has none.
	Kind  deputy.Kind
	Known bool

	group, plural string
}

// Of returns the conversion webhook of an object. ok is false for other kinds, and for a
// definition of one version, whose objects are never converted.
func Of(o *preview.Object) (w Webhook, ok bool) {
	if o.Planned == nil || !o.Is(preview.KindCustomResourceDefinition) || len(preview.List(o.Planned, "spec", "versions")) == 1 {
		return w, false
	}
	w.Body = preview.Map(o.Planned, "spec", "conversion", "webhook")
	w.group, w.plural = preview.String(o.Planned, "spec", "group"), preview.String(o.Planned, "spec", "names", "plural")
	w.Kind, w.Known = deputy.Of(w.group, preview.String(o.Planned, "spec", "names", "kind"))
	if service := preview.Map(w.Body, "clientConfig", "service"); service != nil {
		w.Service = preview.Ref{APIVersion: "v1", Kind: "Service", Namespace: preview.String(service, "namespace"), Name: preview.String(service, "name")}
	}
	return w, true
}

// Controls reports whether a ServiceAccount may, by the grants, change every object of
// the kind or its status. The controller of the kind may, whose package brings the
// definition with it: conversion gives it nothing that it does not have. One that may in
// some namespaces only gains the objects of all others.
func (w Webhook) Controls(grants []preview.Grant) bool {
	return slices.ContainsFunc(grants, func(g preview.Grant) bool {
		if g.Subject.Kind != preview.SubjectServiceAccount || g.Scope != preview.ScopeCluster || g.Change == preview.GrantRemoved || len(g.ResourceNames) > 0 {
			return false
		}
		return slices.ContainsFunc([]string{"update", "patch"}, func(verb string) bool {
			return access.Reaches(g, w.group, w.plural, verb) || access.Reaches(g, w.group, w.plural+"/status", verb)
		})
	})
}
