package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
)

// Today returns the findings that today's rules make of a plan: those it
// carries, and those that follow from its sealed objects and Facts now. A plan
// from a record carries what somebody stored there, and no live bodies: only
// what is sealed can be trusted to say what is critical.
func Today(p *preview.Plan, schemas Schemas) ([]preview.Finding, error) {
	fresh := *p
	fresh.Objects, fresh.Reads, fresh.Unknowns = slices.Clone(p.Objects), slices.Clone(p.Reads), slices.Clone(p.Unknowns)
	if err := derive(&fresh, schemas); err != nil {
		return nil, err
	}
	all := slices.Clone(p.Findings)
	for _, f := range fresh.Findings {
		if !slices.ContainsFunc(all, func(known preview.Finding) bool {
			return known.ID == f.ID && known.Fingerprint == f.Fingerprint && known.Severity == f.Severity
		}) {
			all = append(all, f)
		}
	}
	return all, nil
}

// readVersions are the kinds of reads whose content decides something, and the
// version they are read in.
var readVersions = map[string]string{
	"/Namespace":                     "v1",
	"rbac.authorization.k8s.io/Role": rbacVersion, "rbac.authorization.k8s.io/ClusterRole": rbacVersion,
	"rbac.authorization.k8s.io/RoleBinding": rbacVersion, "rbac.authorization.k8s.io/ClusterRoleBinding": rbacVersion,
}

// MovedReads reads again what a plan rests on without changing it, and names
// the roles, bindings and namespaces that are not as they were.
func MovedReads(ctx context.Context, p *preview.Plan, cluster Cluster) ([]string, error) {
	var refs []preview.Ref
	var was []preview.Read
	for _, read := range p.Reads {
		group, kind, namespace, name, err := preview.ParseID(read.ID)
		version := readVersions[group+"/"+kind]
		if err != nil || version == "" || read.UID == "" {
			continue
		}
		refs = append(refs, preview.Ref{APIVersion: version, Kind: kind, Namespace: namespace, Name: name})
		was = append(was, read)
	}
	var moved []string
	for i, r := range cluster.Read(ctx, refs) {
		if r.Err != nil {
			return nil, fmt.Errorf("reading %s again: %w", was[i].ID, r.Err)
		}
		if r.Body == nil {
			moved = append(moved, was[i].ID+" is gone since the review")
			continue
		}
		same, err := recordedAs(p, r.Body, was[i].Fingerprint)
		if err != nil {
			return nil, fmt.Errorf("reading %s again: %w", was[i].ID, err)
		}
		if !same {
			moved = append(moved, was[i].ID+" is not what it was at the review")
		}
	}
	return moved, nil
}

// recordedAs reports whether a live object has the fingerprint of a read. A
// binding is recorded as far as it names subjects that matter: the plan's own
// accounts, one that a way leads over, or both. A record has no bodies to say
// which, so each is tried.
func recordedAs(p *preview.Plan, live map[string]any, fingerprint string) (bool, error) {
	forms := []map[string]any{live}
	if subjects := access.Subjects(live); len(subjects) > 0 {
		ours := access.Ours(sealedBodies(p.Objects), subjects)
		forms = append(forms, access.OnlySubjects(live, ours))
		for _, s := range subjects[:min(len(subjects), maxHeld)] {
			forms = append(forms, access.OnlySubjects(live, []preview.Subject{s}), access.OnlySubjects(live, append(slices.Clone(ours), s)))
		}
	}
	for _, form := range forms {
		hash, err := preview.Hash(readBody(form))
		if err != nil || hash == fingerprint {
			return err == nil, err
		}
	}
	return false, nil
}
