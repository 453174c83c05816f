package ref

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

func ociRepository(name string) string {
	return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: " + name + ", namespace: flux-system}\nspec:\n  interval: 1h\n  url: oci://registry.example.com/a\n  ref: {tag: v1}\n"
}

// A request's file may hold what its author applies with it. A plan is one
// release: none of that is applied, and none of it is passed over in silence.
func TestObjectsBesideARequestAreNamed(t *testing.T) {
	const beside = `---
apiVersion: v1
kind: Namespace
metadata: {name: argocd, labels: {kubernetes.io/metadata.name: argocd, pod-security.kubernetes.io/enforce: privileged}, annotations: {team: x}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: argocd-installer, namespace: argocd}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: "argocd:installer"}
---
apiVersion: v1
kind: Secret
metadata: {name: a, namespace: argocd}
stringData: {password: hunter2}
---
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: g, namespace: argocd}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: charts, namespace: argocd}
`
	const others = "the file holds objects that the request does not refer to, and they are not applied: "
	const rest = "ServiceAccount argocd/argocd-installer, ClusterRoleBinding argocd:installer, Secret argocd/a, OperatorGroup argocd/g, HelmRepository argocd/charts"
	r := read(t, clusterExtension+beside, nil)
	for namespace, want := range map[string][]string{
		"argocd": {"Namespace argocd of the file is the release's own, and of it are not applied: label pod-security.kubernetes.io/enforce=privileged, annotation team", others + rest},
		"other":  {others + "Namespace argocd, " + rest},
		"":       {others + "Namespace argocd, " + rest},
	} {
		var got []string
		for _, n := range r.NotesBeside(namespace) {
			if got = append(got, n.Text); n.Rule.Name != rules.RequestObjectsNotApplied.Name {
				t.Errorf("rule %s", n.Rule)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("in %q:\ngot  %q\nwant %q", namespace, got, want)
		}
	}
	out, err := r.Pin(Pinned{ContentDigest: digest, Version: "0.8.0"})
	if err != nil || !strings.HasSuffix(string(out), beside) {
		t.Errorf("written back as %s, %v", out, err)
	}
	if notes := read(t, clusterExtension+"---\napiVersion: v1\nkind: Namespace\nmetadata: {name: argocd}\n", nil).NotesBeside("argocd"); len(notes) != 0 {
		t.Errorf("a bare Namespace of its own: %q", notes)
	}
}

// An object made in the cluster is not read; the review names its source, with the command
// that plans it.
func TestAnArtifactOfAGeneratorNamesWhatItIsCopiedFrom(t *testing.T) {
	const generator = "---\napiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {name: all, namespace: flux-system}\nspec:\n" +
		"  sources: [{alias: mono, kind: GitRepository, name: fleet}]\n  artifacts:\n  - name: apps\n    copy:\n    - {from: '@mono/base/**', to: '@artifact/base/'}\n    - {from: '@mono/clusters/apps/**', to: '@artifact/it''s/'}\n" +
		"  - name: whole\n    copy: [{from: '@mono/infra/**', to: '@artifact/'}]\n" +
		"  - name: source\n    copy: [{from: '@mono/**', to: '@artifact/'}]\n  - name: files\n    copy: [{from: '@mono/web/*.yaml', to: '@artifact/'}]\n"
	of := func(name, at, more string) string {
		return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: shop, namespace: flux-system}\nspec: {sourceRef: {kind: ExternalArtifact, name: " + name + "}, path: \"" + at + "\"" + more + "}\n"
	}
	const made = "ExternalArtifact flux-system/NAME is made in the cluster, by an ArtifactGenerator or another controller, and is not read from there; "
	for _, tt := range []struct{ name, text, artifact, want string }{
		{"a directory of it", of("apps", "./it's/staging", "") + generator, "apps", "in a checkout of GitRepository flux-system/fleet, which it is copied from: kubectl operator preview ./clusters/apps/staging shop -n flux-system"},
		{"all of it", of("whole", "./controllers", ", targetNamespace: web, prune: true") + generator, "whole", "in a checkout of GitRepository flux-system/fleet, which it is copied from: kubectl operator preview ./infra/controllers shop -n web"},
		{"with changes of the Kustomization's own", of("whole", "./", ", patches: [{patch: x}], postBuild: {}") + generator, "whole", "which it is copied from, without spec.patches, without spec.postBuild: kubectl operator preview ./infra shop -n flux-system"},
		{"the whole source", of("source", "./", "") + generator, "source", "in a checkout of GitRepository flux-system/fleet, which it is copied from: kubectl operator preview . shop -n flux-system"},
		{"a directory of the whole source", of("source", "./web", "") + generator, "source", "which it is copied from: kubectl operator preview ./web shop -n flux-system"},
		{"files by a pattern, which are no directory", of("files", "./", "") + generator, "files", "name the directory that it is made of: kubectl operator preview ./DIR shop -n flux-system"},
		{"what no generator of the file makes", of("other", "./", "") + generator, "other", "name the directory that it is made of: kubectl operator preview ./DIR shop -n flux-system"},
		{"a path that nothing is copied to", of("apps", "./none", "") + generator, "apps", "name the directory that it is made of: kubectl operator preview ./DIR shop -n flux-system"},
	} {
		_, err := ReadRequest(context.Background(), []byte(tt.text), nil)
		if err == nil || !strings.Contains(err.Error(), strings.Replace(made, "NAME", tt.artifact, 1)) || !strings.HasSuffix(err.Error(), tt.want) {
			t.Errorf("%s:\n%v, want\n%s", tt.name, err, tt.want)
		}
	}
}

// Requests as their projects publish them.
func TestRequestsOfOthersAreRead(t *testing.T) {
	corpus := corpustest.Dir(t, "requests-upstream")
	overlay := func(t *testing.T, dir string) string {
		made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(corpus, dir))
		if err != nil {
			t.Fatal(err)
		}
		text, err := made.AsYaml()
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	file := func(t *testing.T, name string) string {
		text, err := os.ReadFile(filepath.Join(corpus, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, test := range []struct {
		at                       string
		text                     func(*testing.T, string) string
		release, namespace, asks string
	}{
		{"olm-samples/olm_v1_clusterextension.yaml", file, "argocd", "argocd", "argocd-operator 0.6.0"},
		{"flux2-kustomize-helm-example/apps/production", overlay, "podinfo", "podinfo", "chart+https://stefanprodan.github.io/podinfo/podinfo?version=>=1.0.0"},
		{"flux2-kustomize-helm-example/apps/staging", overlay, "podinfo", "podinfo", "chart+https://stefanprodan.github.io/podinfo/podinfo?version=>=1.0.0-alpha"},
		{"flux2-kustomize-helm-example/infrastructure/controllers/cert-manager.yaml", file, "cert-manager", "cert-manager", "oci://quay.io/jetstack/charts/cert-manager?version=1.x&layer=application/vnd.cncf.helm.chart.content.v1.tar+gzip"},
		{"flux2-kustomize-helm-example/infrastructure/controllers/envoy-gateway.yaml", file, "envoy-gateway", "envoy-gateway-system", "oci://docker.io/envoyproxy/gateway-helm?version=>= 1.8.0-rc.0&layer=application/vnd.cncf.helm.chart.content.v1.tar+gzip"},
	} {
		t.Run(test.at, func(t *testing.T) {
			r, err := ReadRequest(context.Background(), []byte(test.text(t, test.at)), nil)
			if err != nil {
				t.Fatal(err)
			}
			asks := ""
			if r.Package != nil {
				asks = r.Package.Name + " " + r.Package.Version
			} else {
				asks = r.Sources[0].Reference.Text
			}
			if r.Release != test.release || r.Namespace != test.namespace || asks != test.asks {
				t.Errorf("it asks for %s as %s/%s", asks, r.Namespace, r.Release)
			}
			out, err := r.Pin(pinnedFor(r))
			if err != nil {
				t.Fatal(err)
			}
			if again := read(t, string(out), nil); again.ContentDigest != digest {
				t.Errorf("read again: %+v", again)
			}
		})
	}
}

func TestAReleaseHasNoDotsInItsName(t *testing.T) {
	text := "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: example.guestbook, namespace: argocd}\nspec:\n  destination: {namespace: guestbook}\n  source: {repoURL: 'https://git.example.com/a/b', path: guestbook}\n"
	r := read(t, text, nil)
	if r.Release != "example-guestbook" || len(r.Notes) != 1 || r.Notes[0].Rule.Name != rules.ReleaseRenamed.Name ||
		!strings.Contains(r.Notes[0].Text, "the release is called example-guestbook: its name cannot have the dots of example.guestbook") {
		t.Errorf("got %s, %q", r.Release, r.Notes)
	}
	named := read(t, strings.Replace(text, "path: guestbook}", "path: guestbook, helm: {releaseName: shop}}", 1), nil)
	if named.Release != "shop" || len(named.Notes) != 0 {
		t.Errorf("got %s, %q", named.Release, named.Notes)
	}
	_, err := ReadRequest(context.Background(), []byte(strings.Replace(text, "example.guestbook", strings.Repeat("a", 40)+"."+strings.Repeat("b", 40), 1)), nil)
	if err == nil || !strings.Contains(err.Error(), "at most 63") {
		t.Errorf("got %v", err)
	}
}
