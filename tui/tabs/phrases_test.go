package tabs

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
)

// A list has one column for what is found and one for the object, so that no name is
// printed twice, and cut twice.
func TestWhatAndWho_OfFindings(t *testing.T) {
	const role, crd = "rbac.authorization.k8s.io/ClusterRole/-/op", "apiextensions.k8s.io/CustomResourceDefinition/-/things.example.com"
	reads := preview.Claim{Subject: "ServiceAccount op", Predicate: "can read Secrets", Scope: preview.ScopeCluster}
	inOwn, inOther := reads, reads
	inOwn.Scope, inOwn.Namespace, inOther.Scope, inOther.Namespace = preview.ScopeNamespace, "app", preview.ScopeNamespace, "prod"
	loses := preview.Claim{Subject: "CustomResourceDefinition things.example.com", Predicate: "loses fields", Clause: true}
	for _, tt := range []struct {
		name, object     string
		claims           []preview.Claim
		what, short, who string
	}{
		{"an account everywhere", role, []preview.Claim{reads}, "can read Secrets in every namespace", "can read Secrets (all ns)", "SA op"},
		{"an account in the namespace of the release", role, []preview.Claim{inOwn}, "can read Secrets in namespace app", "can read Secrets (own ns)", "SA op"},
		{"an account in another namespace", role, []preview.Claim{inOther}, "can read Secrets in namespace prod", "can read Secrets (ns prod)", "SA op"},
		{"a clause", crd, []preview.Claim{loses}, "loses fields", "loses fields", "CRD things.example.com"},
		{"no subject", "core/Secret/app/cert", []preview.Claim{{Predicate: "is deleted"}}, "is deleted", "is deleted", "Secret app/cert"},
		{"two rules", crd, []preview.Claim{loses, {Predicate: "is deleted"}}, "loses fields, and 1 more", "loses fields, and 1 more", "CRD things.example.com"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := verdict.Group{}
			for i, claim := range tt.claims {
				g.Findings = append(g.Findings, &preview.Finding{Rule: string(rune('a' + i)), Object: tt.object, Claim: claim})
			}
			what, who := WhatAndWho(g)
			if short, _ := shortWhatAndWho(g, "app"); what != tt.what || who != tt.who || short != tt.short {
				t.Errorf("got %q, %q, %q; want %q, %q, %q", what, short, who, tt.what, tt.short, tt.who)
			}
		})
	}
}

// A step may have ", which " in it: it stays one step.
func TestPathSteps_OfAStepWithARelativeClause(t *testing.T) {
	steps := []string{"writes any right into Role app/x, which it is bound to", "reads every Secret"}
	f := &preview.Finding{Pieces: []preview.Piece{{Path: &preview.EvidencePath{Kind: preview.PathThrough, Steps: steps}}}}
	if got := pathSteps(f); len(got) != 2 || got[0] != steps[0] {
		t.Errorf("got %q", got)
	}
}
