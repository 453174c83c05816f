package install_test

import (
	"context"
	"net/http"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// prepare lets others have some of the objects before the plan is made, and makes the
// choices about those: another user or release creates the missing ones, and takes
// fields of the existing ones.
func (tr *trial) prepare(parts []part) func(*engine.Options) {
	ns := tr.w.release.Namespace
	conflicts := []string{preview.ConflictsFail, preview.ConflictsLeave, preview.ConflictsTake, preview.ConflictsTake, preview.ConflictsTake}[tr.chance.IntN(5)]
	adopt := tr.chance.IntN(8) > 0
	for _, p := range parts {
		_, installed := tr.parts[p.id(ns)]
		how := "create"
		if installed {
			how = "take"
		}
		switch {
		case tr.chance.IntN(5) > 0:
		case p.kind == "CustomResourceDefinition" && !installed:
			owner := &world{Client: tr.w.Client, schemas: tr.schemas, sandbox: tr.sandbox, release: preview.Release{Name: ns + "-" + p.name, Namespace: ns + "-" + p.name}}
			owner.applyQuietly(tr.t, owner.plan(tr.t, owner.content(tr.t, "1.0.0", p.manifest(ns))))
			tr.say("release %s has %s", owner.release.Name, p.id(ns))
		case tr.others(ns):
			if did, err := edit(context.Background(), tr.raw, how, p, ns); err != nil {
				tr.find("the other client: %v", err)
			} else if did {
				tr.say("somebody did %q to %s", how, p.id(ns))
			}
		}
	}
	tr.say("conflicts %s, adopt %t", conflicts, adopt)
	return func(o *engine.Options) { o.Apply.Conflicts, o.Apply.Adopt = conflicts, adopt }
}

// others reports whether another user can make objects: in a namespace that exists.
func (tr *trial) others(ns string) bool {
	status, _, err := tr.raw.Do(context.Background(), http.MethodGet, "/api/v1/namespaces/"+ns, "", nil)
	if err == nil && status == http.StatusNotFound && tr.chance.IntN(2) == 0 {
		body := map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": ns}}
		status, _, err = tr.raw.Do(context.Background(), http.MethodPost, "/api/v1/namespaces", "", body)
	}
	if err != nil {
		tr.find("the other client: %v", err)
	}
	return status == http.StatusOK || status == http.StatusCreated
}
