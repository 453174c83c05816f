package install_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// part is one object of a random bundle.
type part struct {
	kind, name string
	value      string // of the one field that versions differ in
}

// kindOf tells how a kind of random bundles is addressed and written. TEXT has NAME,
// VALUE and RELEASE for what they stand for; field is the path of VALUE in the API.
type kindOf struct {
	path, text string
	field      []string
}

var kindsOf = map[string]kindOf{
	"ConfigMap": {
		path: "/api/v1/namespaces/NS/configmaps/NAME",
		text: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"NAME","namespace":"NS"},"data":{"key":"VALUE"}}`, field: []string{"data", "key"},
	},
	"ServiceAccount": {
		path: "/api/v1/namespaces/NS/serviceaccounts/NAME",
		text: `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"NAME","namespace":"NS","annotations":{"example.com/key":"VALUE"}}}`, field: []string{"metadata", "annotations", "example.com/key"},
	},
	"Service": {
		path: "/api/v1/namespaces/NS/services/NAME",
		text: `{"apiVersion":"v1","kind":"Service","metadata":{"name":"NAME","namespace":"NS"},"spec":{"selector":{"key":"VALUE"},"ports":[{"port":80}]}}`, field: []string{"spec", "selector", "key"},
	},
	"Role": {
		path: "/apis/rbac.authorization.k8s.io/v1/namespaces/NS/roles/NAME",
		text: `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"NAME","namespace":"NS","annotations":{"example.com/key":"VALUE"}},"rules":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["get"],"resourceNames":["VALUE"]}]}`, field: []string{"metadata", "annotations", "example.com/key"},
	},
	"ClusterRole": {
		path: "/apis/rbac.authorization.k8s.io/v1/clusterroles/NS-NAME",
		text: `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"NS-NAME","annotations":{"example.com/key":"VALUE"}},"rules":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["list"]}]}`, field: []string{"metadata", "annotations", "example.com/key"},
	},
	"Deployment": {
		path: "/apis/apps/v1/namespaces/NS/deployments/NAME",
		text: `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"NAME","namespace":"NS"},"spec":{"selector":{"matchLabels":{"app":"NAME"}},"template":{"metadata":{"labels":{"app":"NAME"},"annotations":{"example.com/key":"VALUE"}},"spec":{"containers":[{"name":"main","image":"registry.example.com/app:v1"}]}}}}`, field: []string{"spec", "template", "metadata", "annotations", "example.com/key"},
	},
	"CustomResourceDefinition": {
		path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/NAMEs.NS.example.com",
		text: `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"NAMEs.NS.example.com","annotations":{"example.com/key":"VALUE"}},"spec":{"group":"NS.example.com","names":{"kind":"KNAME","plural":"NAMEs","singular":"NAME","listKind":"KNAMEList"},"scope":"Namespaced","versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`, field: []string{"metadata", "annotations", "example.com/key"},
	},
	"Frozen": { // only its metadata can change
		path: "/api/v1/namespaces/NS/configmaps/NAME",
		text: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"NAME","namespace":"NS"},"immutable":true,"data":{"key":"VALUE"}}`, field: []string{"data", "key"},
	},
	"Unserved": {
		path: "/apis/NS.example.org/v1/namespaces/NS/kNAMEs/NAME",
		text: `{"apiVersion":"NS.example.org/v1","kind":"KNAME","metadata":{"name":"NAME","namespace":"NS"},"spec":{"key":"VALUE"}}`, field: []string{"spec", "key"},
	},
	"Secret": {
		path: "/api/v1/namespaces/NS/secrets/NAME",
		text: `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"NAME","namespace":"NS","annotations":{"example.com/key":"VALUE"}}}`, field: []string{"metadata", "annotations", "example.com/key"},
	},
}

// Cheap kinds come more often.
var drawn = []string{
	"ConfigMap", "ConfigMap", "ConfigMap", "ServiceAccount", "ServiceAccount", "Service", "Role", "Role", "ClusterRole", "Deployment",
	"CustomResourceDefinition", "CustomResourceDefinition", "Secret", "Frozen", "Frozen", "Unserved",
}

func (p part) fill(text, namespace string) string {
	return strings.NewReplacer("NS", namespace, "NAME", p.name, "VALUE", p.value).Replace(text)
}

func (p part) manifest(namespace string) string { return p.fill(kindsOf[p.kind].text, namespace) }
func (p part) path(namespace string) string     { return p.fill(kindsOf[p.kind].path, namespace) }

// id is the object id of a part.
func (p part) id(namespace string) string {
	docs, err := preview.Decode([]byte(p.manifest(namespace)))
	if err != nil {
		panic(err) // the table above is wrong
	}
	return preview.RefOf(docs[0].(map[string]any)).ID()
}

// merge is a JSON merge patch that sets the part's field.
func (p part) merge(value string) map[string]any {
	field := kindsOf[p.kind].field
	var body any = value
	for i := len(field) - 1; i >= 0; i-- {
		body = map[string]any{field[i]: body}
	}
	return body.(map[string]any)
}

func randomParts(r *rand.Rand, most int) []part {
	var parts []part
	for i := range 1 + r.IntN(most) {
		parts = append(parts, part{kind: drawn[r.IntN(len(drawn))], name: fmt.Sprint("p", i), value: fmt.Sprint("v", r.IntN(3))})
	}
	return parts
}

// next is a later version of a bundle: some parts go, some change, some come.
func next(r *rand.Rand, parts []part) []part {
	var out []part
	for _, p := range parts {
		switch r.IntN(4) {
		case 0:
			continue
		case 1, 2:
			p.value = fmt.Sprint("w", r.IntN(3))
		}
		out = append(out, p)
	}
	for i, p := range randomParts(r, 3) {
		p.name = fmt.Sprint("n", i)
		out = append(out, p)
	}
	return out
}

func manifests(parts []part, namespace string) []string {
	var out []string
	for _, p := range parts {
		out = append(out, p.manifest(namespace))
	}
	return out
}

// The ways of another client with an object.
var edits = []string{"change", "change", "aside", "delete", "recreate", "finalize", "create", "take", "share", "own"}

// definition makes the kind of a part served.
func (p part) definition(namespace string) map[string]any {
	group := p.fill("NS.example.org", namespace)
	kind, plural := p.fill("KNAME", namespace), p.fill("kNAMEs", namespace)
	return map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": plural + "." + group},
		"spec": map[string]any{
			"group": group, "scope": "Namespaced",
			"names": map[string]any{"kind": kind, "plural": plural, "singular": strings.TrimSuffix(plural, "s"), "listKind": kind + "List"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	}
}

// edit does one of them to a part, by the field manager of another client. It
// reports whether the cluster changed.
func edit(ctx context.Context, raw *sandboxtest.RawClient, how string, p part, namespace string) (bool, error) {
	if p.kind == "Unserved" && how != "serve" {
		return false, nil
	}
	at := p.path(namespace)
	collection := at[:strings.LastIndex(at, "/")]
	send := func(method, path, contentType string, body any) (bool, error) {
		status, _, err := raw.Do(ctx, method, path, contentType, body)
		return status >= 200 && status < 300, err
	}
	annotate := map[string]any{"metadata": map[string]any{"annotations": map[string]any{"example.com/aside": "x"}}}
	document := func(value string) (map[string]any, error) {
		p.value = value
		docs, err := preview.Decode([]byte(p.manifest(namespace)))
		if err != nil {
			return nil, err
		}
		return docs[0].(map[string]any), nil
	}
	switch how {
	case "change":
		return send(http.MethodPatch, at, sandboxtest.MergePatch, p.merge("edited"))
	case "aside":
		return send(http.MethodPatch, at, sandboxtest.MergePatch, annotate)
	case "delete":
		return send(http.MethodDelete, at, "", nil)
	case "finalize":
		ok, err := send(http.MethodPatch, at, sandboxtest.MergePatch, map[string]any{"metadata": map[string]any{"finalizers": []any{"example.com/hold"}}})
		if !ok || err != nil {
			return ok, err
		}
		return send(http.MethodDelete, at, "", nil)
	case "serve":
		return send(http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "", p.definition(namespace))
	case "own":
		return send(http.MethodPatch, at, sandboxtest.MergePatch, map[string]any{"metadata": map[string]any{"labels": map[string]any{"applyset.kubernetes.io/part-of": "applyset-somebody-else-v1"}}})
	}
	value := p.value
	if how != "share" {
		value = "edited"
	}
	body, err := document(value)
	if err != nil {
		return false, err
	}
	switch how {
	case "create":
		return send(http.MethodPost, collection, "", body)
	case "recreate":
		if ok, err := send(http.MethodDelete, at, "", nil); !ok || err != nil {
			return ok, err
		}
		_, err := send(http.MethodPost, collection, "", body)
		return true, err
	}
	// An apply creates what is not there; only what is there is edited here.
	if status, _, err := raw.Do(ctx, http.MethodGet, at, "", nil); status != http.StatusOK || err != nil {
		return false, err
	}
	return send(http.MethodPatch, at+"?fieldManager=somebody-else&force=true", sandboxtest.ApplyPatch, body)
}
