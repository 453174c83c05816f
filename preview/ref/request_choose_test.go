package ref

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
)

const secretOfValues = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: apps}\nstringData: {values.yaml: \"replicaCount: 7\"}\n"

func helmReleaseWithSecret() string {
	return strings.Replace(helmRelease, "  values:\n    replicaCount: 2\n", "  valuesFrom: [{kind: Secret, name: a}]\n", 1)
}

// A file may hold several requests: each is read with what it refers to, and names the
// others as not applied by its plan.
func TestAFileMayHoldSeveralRequests(t *testing.T) {
	text := helmRelease + "---\n" + clusterExtension + "---\n" + subscription
	objects := func(name string) string {
		all, err := ReadRequests(context.Background(), []byte(text), nil, name)
		if err != nil {
			return err.Error()
		}
		var out []string
		for _, r := range all {
			out = append(out, r.Object)
			for _, n := range r.NotesBeside("")[len(r.NotesBeside(""))-1:] {
				if len(r.others) != 2 || !strings.Contains(n.Text, "the file holds other requests, and this plan does not apply them: "+strings.Join(r.others, ", ")) {
					t.Errorf("%s: %s", r.Object, n.Text)
				}
			}
		}
		return strings.Join(out, ", ")
	}
	for name, want := range map[string]string{
		"":                        "HelmRelease apps/podinfo, ClusterExtension argocd, Subscription operators/my-operator",
		"podinfo":                 "HelmRelease apps/podinfo",
		"operators/my-operator":   "Subscription operators/my-operator",
		"ClusterExtension/argocd": "ClusterExtension argocd",
		"other":                   "0 of its requests are called other; it holds HelmRelease apps/podinfo, ClusterExtension argocd, Subscription operators/my-operator",
	} {
		if got := objects(name); got != want {
			t.Errorf("%q: %s", name, got)
		}
	}
	sources, err := ReadRequests(context.Background(), []byte(ociRepository("a")+"---\n"+ociRepository("b")), nil, "")
	if err != nil || len(sources) != 2 {
		t.Errorf("sources alone are requests: %v", err)
	}
	all, err := ReadRequests(context.Background(), []byte(text), nil, "argocd")
	if err != nil {
		t.Fatal(err)
	}
	out, err := all[0].Pin(Pinned{ContentDigest: digest, Version: "0.8.0"})
	if err != nil || !strings.HasPrefix(string(out), helmRelease) || !strings.HasSuffix(string(out), subscription) || !strings.Contains(string(out), "0.8.0") {
		t.Errorf("written back as %s, %v", out, err)
	}
	if again, err := ReadRequests(context.Background(), out, nil, all[0].Name()); err != nil || again[0].ContentDigest != digest {
		t.Errorf("read again: %v", err)
	}
}

// Other objects in the file of a request never keep it from being planned.
func TestWhatStandsBesideARequestIsNoRefusal(t *testing.T) {
	list := "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ServiceAccount, metadata: {name: a}}\n- " + strings.ReplaceAll(strings.TrimSpace(clusterExtension), "\n", "\n  ") + "\n"
	for _, tc := range []struct{ name, text string }{
		{"a List of it and others", list},
		{"an object with a generated name", clusterExtension + "---\napiVersion: batch/v1\nkind: Job\nmetadata: {generateName: migrate-}\n"},
		{"500 objects", clusterExtension + strings.Repeat("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", 500)},
		{"the Secret of its values", helmReleaseWithSecret() + secretOfValues},
		{"the Secret of its credentials", kustomizationOfGit + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: deploy-key, namespace: flux-system}\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := read(t, tc.text, nil)
			for _, n := range r.NotesBeside("") {
				if len(n.Text) > 600 {
					t.Errorf("a note of %d bytes", len(n.Text))
				}
			}
			if _, err := r.Pin(pinnedFor(r)); (err != nil) != r.listed {
				t.Errorf("written back: %v", err)
			}
		})
	}
	_, err := ReadRequest(context.Background(), []byte(clusterExtension+strings.Repeat("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", maxDocuments)), nil)
	if err == nil || err.Error() != fmt.Sprintf("%d objects; at most %d are read", maxDocuments+1, maxDocuments) {
		t.Errorf("too many: %v", err)
	}
	_, err = ReadRequest(context.Background(), []byte(strings.Repeat("---\n"+clusterExtension, maxRequests+1)), nil)
	if err == nil || !strings.Contains(err.Error(), "51 requests; at most 50") {
		t.Errorf("too many requests: %v", err)
	}
}

// The values of a Secret in the file are the ones that its controller would take; an
// encrypted one's are in the cluster alone.
func TestValuesOfASecretInTheFile(t *testing.T) {
	r := read(t, helmReleaseWithSecret()+secretOfValues, nil)
	if !r.SecretValues || fmt.Sprint(r.Values) != "map[replicaCount:7]" {
		t.Errorf("values %v, secret: %t", r.Values, r.SecretValues)
	}
	encrypted := helmReleaseWithSecret() + secretOfValues + "sops: {version: 3.9.0}\n"
	if _, err := ReadRequest(context.Background(), []byte(encrypted), nil); err == nil || !strings.Contains(err.Error(), "Secret apps/a, which is encrypted in the file") {
		t.Errorf("encrypted, without a cluster: %v", err)
	}
	inCluster := cluster{"Secret apps/a": {"kind": "Secret", "data": map[string]any{"values.yaml": base64.StdEncoding.EncodeToString([]byte("replicaCount: 9"))}}}
	if r := read(t, encrypted, inCluster); fmt.Sprint(r.Values) != "map[replicaCount:9]" {
		t.Errorf("encrypted: %v", r.Values)
	}
}

// A ClusterExtension is looked up in a ClusterCatalog of the same file; alone it is
// added as a catalog.
func TestAClusterCatalogInTheFile(t *testing.T) {
	const catalog = "---\napiVersion: olm.operatorframework.io/v1\nkind: ClusterCatalog\nmetadata: {name: operatorhubio, labels: {team: a}}\nspec: {source: {type: Image, image: {ref: 'quay.io/operatorhubio/catalog:latest'}}}\n"
	selecting := func(selector string) string {
		return strings.Replace(clusterExtension, "      channels: [alpha]\n", "      channels: [alpha]\n      selector: "+selector+"\n", 1) + catalog
	}
	const image = "oci://quay.io/operatorhubio/catalog:latest"
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"no selector":        {clusterExtension + catalog, []string{image}},
		"by OLM's own label": {selecting("{matchLabels: {olm.operatorframework.io/metadata.name: operatorhubio}}"), []string{image}},
		"by an expression":   {selecting("{matchExpressions: [{key: team, operator: In, values: [a, b]}, {key: x, operator: DoesNotExist}]}"), []string{image}},
		"of another one":     {selecting("{matchLabels: {team: b}}"), nil},
		"not this one":       {selecting("{matchExpressions: [{key: team, operator: NotIn, values: [a]}]}"), nil},
		"without a label":    {selecting("{matchExpressions: [{key: x, operator: Exists}]}"), nil},
	} {
		if r := read(t, tc.text, nil); !slices.Equal(r.Package.Catalogs, tc.want) {
			t.Errorf("%s: %v", name, r.Package.Catalogs)
		}
	}
	_, err := ReadRequest(context.Background(), []byte(catalog), nil)
	if err == nil || !strings.HasSuffix(err.Error(), "it holds ClusterCatalog operatorhubio, and no request; a ClusterCatalog is a catalog: kubectl operator catalog add operatorhubio "+image) {
		t.Errorf("alone: %v", err)
	}
}

// A flag is allowed with a file whose kind has no field for it; for other flags the
// error names the field.
func TestFieldsThatSayWhatAFlagSays(t *testing.T) {
	group := "---\napiVersion: operators.coreos.com/v1\nkind: OperatorGroup\nmetadata: {name: g, namespace: operators}\nspec: {targetNamespaces: [shop]}\n"
	for _, tc := range []struct{ name, text, said string }{
		{"ClusterExtension", clusterExtension, "version channel install-mode watch-namespace values set values-from-defaults"},
		{"Subscription", subscription, "version channel values set values-from-defaults"},
		{"Subscription with an OperatorGroup", subscription + group, "version channel install-mode watch-namespace values set values-from-defaults"},
		{"HelmRelease", helmRelease, "version values set values-from-defaults format path"},
		{"Kustomization", kustomizationOfGit, "version format path"},
		{"OCIRepository", ociRepository("a"), "version"},
		{"Request", "apiVersion: kubectl-operator/v1alpha1\nkind: Request\nmetadata: {name: a, namespace: a}\nspec: {reference: ./a}\n", "version channel install-mode watch-namespace values set values-from-defaults certs format path"},
	} {
		r := read(t, tc.text, nil)
		var said []string
		for _, flag := range strings.Fields("version channel install-mode watch-namespace values set values-from-defaults certs format path") {
			if r.Says(flag) != "" {
				said = append(said, flag)
			}
		}
		if got := strings.Join(said, " "); got != tc.said {
			t.Errorf("%s: %s", tc.name, got)
		}
	}
}
