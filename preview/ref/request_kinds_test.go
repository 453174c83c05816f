package ref

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// requestSamples are requests of every kind and shape, each with what floats.
func requestSamples() map[string]string {
	bundleDeployment := func(version, spec string) string {
		return "apiVersion: core.rukpak.io/" + version + "\nkind: BundleDeployment\nmetadata: {name: combo}\nspec:\n" + spec
	}
	application := func(source string) string {
		return "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: web\n  namespace: argocd\nspec:\n  destination: {namespace: web}\n  source:\n" + source
	}
	return map[string]string{
		"Request of a range over tags":     "apiVersion: kubectl-operator/v1alpha1\nkind: Request\nmetadata: {name: a, namespace: a}\nspec:\n  reference: 'oci://registry.example.com/charts/a?version=^1'\n",
		"OCIRepository of a range":         strings.Replace(ociRepository("a"), "{tag: v1}", "{semver: 1.x}", 1),
		"HelmRelease of a range over tags": strings.NewReplacer("  url: https://charts.example.com/stable/", "  type: oci\n  url: oci://registry.example.com/charts").Replace(helmRelease),
		"ClusterExtension":                 clusterExtension, "Subscription": subscription, "HelmRelease": helmRelease, "Kustomization": kustomizationOfGit,
		"Request of a package":   "apiVersion: kubectl-operator/v1alpha1\nkind: Request\nmetadata: {name: a, namespace: a}\nspec: {package: {name: mongodb}}\n",
		"Request of a reference": "apiVersion: kubectl-operator/v1alpha1\nkind: Request\nmetadata: {name: a, namespace: a}\nspec:\n  reference: mongodb@~1 # the database\n",
		"Request of sources": `apiVersion: kubectl-operator/v1alpha1
kind: Request
metadata: {name: a, namespace: a}
spec:
  sources:
  - reference: registry.example.com/a/b:v1
  - {reference: "git+https://git.example.com/a/b//c?ref=main", destination: c}
  - {reference: 'https://example.com/x.tgz', destination: d}
  - {reference: chart+https://charts.example.com/web, destination: e}
`,
		"Request of sections": `apiVersion: kubectl-operator/v1alpha1
kind: Request
metadata: {name: a, namespace: a}
spec:
  sections:
  - name: operator
    namespace: operator
    reference: registry.example.com/a/b:v1 # the operator
  - {name: rules, reference: 'https://example.com/x.tgz'}
  - name: rest
    format: kustomize
    sources:
    - {reference: "git+https://git.example.com/a/b//c?ref=main", destination: c}
    - reference: chart+https://charts.example.com/web
`,
		"v1alpha1 image":          bundleDeployment("v1alpha1", "  template: {spec: {provisionerClassName: core-rukpak-io-registry, source: {type: image, image: {ref: 'quay.io/a/b:v1'}}}}\n"),
		"v1alpha1 git":            bundleDeployment("v1alpha1", "  template:\n    spec:\n      source:\n        type: git\n        git:\n          repository: https://git.example.com/a/b\n          ref:\n            branch: main\n"),
		"v1alpha2 image":          bundleDeployment("v1alpha2", "  installNamespace: combo\n  provisionerClassName: core-rukpak-io-plain\n  source:\n    type: image\n    image:\n      ref: quay.io/a/b:v1\n"),
		"v1alpha2 http":           bundleDeployment("v1alpha2", "  source:\n    type: http\n    http:\n      url: https://example.com/x.tgz\n"),
		"v1alpha2 proposed image": bundleDeployment("v1alpha2", "  format: registry\n  sources:\n  - kind: image\n    uri: quay.io/a/b:v1\n  - kind: git\n    git: {repository: 'https://git.example.com/a/b', ref: main}\n    destination: more\n"),
		"v1alpha2 proposed, destinations in the sources": bundleDeployment("v1alpha2", proposedSources),
		"v1alpha2 proposed, uniform sources":             bundleDeployment("v1alpha2", uniformSources),
		"HelmRelease of an artifact": `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: apps}
spec: {chartRef: {kind: OCIRepository, name: web}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: web, namespace: apps}
spec: {url: oci://registry.example.com/charts/web, ref: {tag: 1.0.0}}
`,
		"HelmRelease of a repository": `apiVersion: helm.toolkit.fluxcd.io/v2beta2
kind: HelmRelease
metadata: {name: web, namespace: apps}
spec:
  chart: {spec: {chart: ./charts/web, valuesFiles: [charts/web/values.yaml, prod.yaml], sourceRef: {kind: GitRepository, name: web, apiVersion: source.toolkit.fluxcd.io/v1}}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: web, namespace: apps}
spec: {url: "https://git.example.com/a/b"}
`,
		"OCIRepository":                     "apiVersion: source.toolkit.fluxcd.io/v1beta2\nkind: OCIRepository\nmetadata: {name: web, namespace: apps}\nspec:\n  url: oci://registry.example.com/web\n",
		"Application of a chart":            application("    repoURL: https://charts.example.com\n    chart: web\n    targetRevision: 1.x\n"),
		"Application of a repository":       application("    repoURL: git@git.example.com:a/b.git\n    path: deploy\n    kustomize: {images: ['web=registry.example.com/web:2']}\n"),
		"app.pipecd.yaml of a chart in git": "apiVersion: pipecd.dev/v1beta1\nkind: KubernetesApp\nspec:\n  name: web\n  input:\n    helmChart:\n      gitRemote: git@git.example.com:a/b.git\n      ref: v1 # the tag\n      path: web\n",
		"App of a bundle":                   appOf("  fetch:\n  - imgpkgBundle:\n      image: registry.example.com/a:v1\n  - git:\n      url: https://git.example.com/a/b\n      ref: main\n  template: [{ytt: {}}]\n"),
		"App of a chart":                    appOf("  fetch:\n  - helmChart:\n      name: web\n      version: 1.x\n      repository: {url: https://charts.example.com}\n  template: [{helmTemplate: {}}]\n"),
		"App of an archive":                 appOf("  fetch:\n  - http:\n      url: https://example.com/x.tgz\n  template: [{ytt: {}}]\n"),
		"Application of several sources":    strings.Replace(application(""), "  source:\n", "  sources:\n  - repoURL: https://git.example.com/a/b\n    targetRevision: main\n    path: deploy\n  - repoURL: https://charts.example.com\n    chart: web\n    targetRevision: 1.x\n    helm: {valueFiles: [$v/a.yaml]}\n  - repoURL: https://git.example.com/a/v\n    ref: v\n", 1),
		"Application without revision":      application("    repoURL: https://git.example.com/a/b\n    path: deploy\n"),
	}
}

// A pinned request can only lead to the content that it was pinned to.
func TestNothingFloatsInWhatIsWrittenBack(t *testing.T) {
	for name, text := range requestSamples() {
		t.Run(name, func(t *testing.T) {
			r := read(t, text, nil)
			out, err := r.Pin(pinnedFor(r))
			if err != nil {
				t.Fatal(err)
			}
			again := read(t, string(out), nil)
			if len(again.Sections) != len(r.Sections) {
				t.Fatalf("it has %d sections in\n%s", len(again.Sections), out)
			}
			for i := range r.Sections {
				checkPinned(t, r.Sections[i].Request, again.Sections[i].Request)
			}
			checkPinned(t, r, again)
		})
	}
}

// pinnedFor is what each source and package of a request could have led to.
func pinnedFor(r *Request) Pinned {
	p := Pinned{ContentDigest: digest, Version: "1.2.3", Bundle: "b.v1.2.3", Channel: "stable"}
	for _, s := range r.Sources {
		source := preview.Source{Reference: s.Reference.Text, Digest: digest}
		if s.Reference.Kind == KindGit {
			source.Reference = strings.Split(s.Reference.Text, "?")[0] + "?ref=" + pinCommit
		}
		p.Sources = append(p.Sources, source)
	}
	for _, s := range r.Sections {
		p.Sections = append(p.Sections, pinnedFor(s.Request))
	}
	return p
}

func checkPinned(t *testing.T, r, again *Request) {
	t.Helper()
	p := pinnedFor(r)
	if pkg := again.Package; pkg != nil && pkg.Bundle != p.Bundle && pkg.Version != p.Version {
		t.Errorf("it asks for %+v", pkg)
	}
	for _, s := range again.Sources {
		if !immutable(s.Reference) {
			t.Errorf("%s floats in\n%s", s.Reference.Text, again.text)
		}
	}
	same := func(r *Request) Request {
		c := *r
		c.text, c.pin, c.objects, c.Sources, c.Package, c.ContentDigest, c.Sections, c.Select = nil, nil, nil, nil, nil, "", nil, nil
		return c
	}
	if a, b := same(r), same(again); !reflect.DeepEqual(a, b) {
		t.Errorf("something else changed: %+v, %+v", a, b)
	}
}

func immutable(r Reference) bool {
	switch r.Kind {
	case KindImage:
		return strings.Contains(r.Image, "@sha256:") || r.Version == "" && strings.HasSuffix(r.Image, "/podinfo:1.2.3") // a HelmRelease has no other field for it
	case KindGit:
		return IsCommit(r.GitRef)
	case KindArchive:
		return r.SHA256 != ""
	case KindChart:
		_, err := semver.StrictNewVersion(r.Version)
		return err == nil
	}
	return false
}

func TestWhatLiesBesideASubscriptionCounts(t *testing.T) {
	text := subscription + `---
apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata: {name: community, namespace: olm}
spec: {sourceType: grpc, image: "quay.io/operatorhubio/catalog:latest", updateStrategy: {registryPoll: {interval: 60m}}}
---
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: g, namespace: operators}
spec: {targetNamespaces: [one, two]}
`
	r := read(t, text, nil)
	if !reflect.DeepEqual(r.Package.Catalogs, []string{"oci://quay.io/operatorhubio/catalog:latest"}) || r.Package.CatalogSource != "" {
		t.Errorf("catalogs %q, %q", r.Package.Catalogs, r.Package.CatalogSource)
	}
	if r.InstallMode != "MultiNamespace" || !reflect.DeepEqual(r.WatchNamespaces, []string{"one", "two"}) {
		t.Errorf("%s %q", r.InstallMode, r.WatchNamespaces)
	}
	_, err := ReadRequest(context.Background(), []byte(strings.Replace(text, "sourceType: grpc", "address: grpc://x, sourceType: grpc", 1)), nil)
	if err == nil || !strings.Contains(err.Error(), "CatalogSource olm/community: the field spec.address is not supported") {
		t.Errorf("got %v", err)
	}
}

func TestChecksThatAControllerWouldLeaveOutAreSaid(t *testing.T) {
	text := strings.Replace(clusterExtension, "  namespace: argocd\n", "  namespace: argocd\n  install: {preflight: {crdUpgradeSafety: {enforcement: None}}}\n  config: {configType: Inline, inline: {watchNamespace: argocd}}\n", 1)
	r := read(t, text, nil)
	if len(r.Notes) != 1 || r.Notes[0].Rule.Name != rules.PreflightDisabled.Name || r.Values["watchNamespace"] != "argocd" {
		t.Errorf("got %+v", r)
	}
}

func TestConfigMapsOfABundleDeploymentGoWhereItSays(t *testing.T) {
	text := `apiVersion: core.rukpak.io/v1alpha2
kind: BundleDeployment
metadata: {name: combo}
spec:
  source:
    type: configMaps
    configMaps:
    - {configMap: {name: one}, path: manifests}
    - {configMap: {name: two}, path: metadata}
`
	r := read(t, text, nil)
	for i, want := range []RequestSource{{Destination: "manifests"}, {Destination: "metadata"}} {
		s := r.Sources[i]
		if s.Destination != want.Destination || s.Subdir != "manifests" || s.Reference.Namespace != "rukpak-system" {
			t.Errorf("got %+v", s)
		}
	}
}

// The two forms of sources that rukpak's issue 703 proposes, with every field in the
// place where the issue has it.
const (
	proposedSources = `  paused: false
  format: registry-v1
  sources:
  - kind: image
    image:
      ref: registry.example.com/foo/bar:v1
      auth:
        namespace: ns
        name: creds
    destination: foo/bar
  - kind: git
    git:
      repository: https://git.example.com/foo/bar
      ref: a3b1dff2
      directory: ''
      auth:
        secret:
          namespace: ns
          name: creds
      destination: foo/moo
  - kind: http
    http:
      url: https://www.example.com/some.zip
      auth:
        secret:
          namespace: ns
          name: creds
      destination: foo/zoo
`
	uniformSources = `  paused: false
  format: registry-v1
  sources:
  - kind: image
    uri: registry.example.com/foo/bar:v1
    auth:
      secret:
        namespace: ns
        name: creds
    destination: foo/bar
  - kind: git
    uri: https://git.example.com/foo/bar
    ref: a3b1dff2
    directory: ''
    auth:
      secret:
        namespace: ns
        name: creds
    destination: foo/moo
  - kind: http
    uri: https://www.example.com/some.zip
    auth:
      secret:
        namespace: ns
        name: creds
    destination: foo/zoo
`
)

func TestTheProposedFormsOfABundleDeploymentAskForTheSame(t *testing.T) {
	head := "apiVersion: core.rukpak.io/v1alpha2\nkind: BundleDeployment\nmetadata: {name: foo}\nspec:\n"
	for _, spec := range []string{proposedSources, uniformSources} {
		r := read(t, head+spec, nil)
		want := []RequestSource{
			{Reference: Reference{Text: "oci://registry.example.com/foo/bar:v1"}, Destination: "foo/bar"},
			{Reference: Reference{Text: "git+https://git.example.com/foo/bar?ref=a3b1dff2"}, Destination: "foo/moo"},
			{Reference: Reference{Text: "https://www.example.com/some.zip"}, Destination: "foo/zoo"},
		}
		if r.Format != "registryv1" || len(r.Sources) != len(want) {
			t.Fatalf("got %+v", r)
		}
		for i, s := range r.Sources {
			if s.Reference.Text != want[i].Reference.Text || s.Destination != want[i].Destination || s.Secret != "ns/creds" || !s.Foreign {
				t.Errorf("got %+v, want %+v", s, want[i])
			}
		}
	}
	for _, tc := range []struct{ from, to, want string }{
		{"      ref: registry", "      destination: foo\n      ref: registry", "spec.sources[0].image.destination: spec.sources[0].destination is there too"},
		{"paused: false", "paused: true | false", "spec.paused: it is text where true or false is due"},
	} {
		_, err := ReadRequest(context.Background(), []byte(head+strings.Replace(proposedSources, tc.from, tc.to, 1)), nil)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("got %v, want %s", err, tc.want)
		}
	}
}

func TestAChartOfARegistryIsATagOrARangeOverTags(t *testing.T) {
	text := strings.NewReplacer("  url: https://charts.example.com/stable/", "  type: oci\n  url: oci://registry.example.com/charts", "'6.5.*'", "VERSION").Replace(helmRelease)
	for version, want := range map[string]string{
		"version: 6.5.1+build":        "oci://registry.example.com/charts/podinfo:6.5.1_build",
		"version: v6.5.1":             "oci://registry.example.com/charts/podinfo:v6.5.1",
		"version: 6.x":                "oci://registry.example.com/charts/podinfo?version=6.x",
		"version: '>=6.0.0-0 <7 # x'": "",
		"version: ''":                 "oci://registry.example.com/charts/podinfo?version=*",
		"reconcileStrategy: Revision": "oci://registry.example.com/charts/podinfo?version=*",
	} {
		r, err := ReadRequest(context.Background(), []byte(strings.Replace(text, "version: VERSION", version, 1)), nil)
		if want == "" {
			if err == nil || !strings.Contains(err.Error(), "is not a version range") {
				t.Errorf("%s: got %v", version, err)
			}
			continue
		}
		if err != nil || r.Sources[0].Reference.Text != want {
			t.Errorf("%s: got %+v, %v", version, r, err)
		}
	}
}

// In the order that Flux looks at them: digest, semver, tag.
func TestAnOCIRepositoryMayHaveARangeOverItsTags(t *testing.T) {
	for given, want := range map[string]string{
		"{tag: v1}":                               "oci://registry.example.com/a:v1",
		"{semver: 1.x}":                           "oci://registry.example.com/a?version=1.x",
		"{semver: '>= 1.8.0-rc.0'}":               "oci://registry.example.com/a?version=>= 1.8.0-rc.0",
		"{semver: 1.x, tag: v1}":                  "oci://registry.example.com/a?version=1.x",
		"{semver: 1.x, digest: '" + digest + "'}": "oci://registry.example.com/a@" + digest,
	} {
		text := strings.Replace(ociRepository("a"), "{tag: v1}", given, 1)
		r := read(t, text, nil)
		if r.Sources[0].Reference.Text != want {
			t.Errorf("%s: got %s", given, r.Sources[0].Reference.Text)
		}
		out, err := r.Pin(pinnedFor(r))
		if err != nil {
			t.Fatal(err)
		}
		if again := read(t, string(out), nil).Sources[0].Reference.Text; again != "oci://registry.example.com/a@"+digest {
			t.Errorf("%s is written back as %s", given, again)
		}
	}
	_, err := ReadRequest(context.Background(), []byte(strings.Replace(ociRepository("a"), "{tag: v1}", "{semver: 1.x, semverFilter: rc}", 1)), nil)
	if err == nil || !strings.Contains(err.Error(), "the field spec.ref.semverFilter is not supported") {
		t.Errorf("got %v", err)
	}
}

func TestAnOCIRepositoryMaySelectALayer(t *testing.T) {
	const chart = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
	with := func(selector string) string { return ociRepository("a") + "  layerSelector: " + selector + "\n" }
	for _, c := range []struct{ selector, ref, want string }{
		{"{mediaType: " + chart + ", operation: copy}", "{tag: v1}", "oci://registry.example.com/a:v1?layer=" + chart},
		{"{mediaType: application/x.tar+gzip}", "{tag: v1}", "oci://registry.example.com/a:v1?layer=application/x.tar+gzip"},
		{"{mediaType: application/x.tar+gzip, operation: extract}", "{semver: 1.x}", "oci://registry.example.com/a?version=1.x&layer=application/x.tar+gzip"},
		{"{operation: extract}", "{tag: v1}", "oci://registry.example.com/a:v1"},
	} {
		r := read(t, strings.Replace(with(c.selector), "{tag: v1}", c.ref, 1), nil)
		if got := r.Sources[0].Reference.Text; got != c.want {
			t.Errorf("%s: got %s, want %s", c.selector, got, c.want)
		}
		out, err := r.Pin(pinnedFor(r))
		if err != nil {
			t.Fatal(err)
		}
		_, layer, _ := strings.Cut(c.want, "layer=")
		if again := read(t, string(out), nil).Sources[0].Reference; again.Layer != layer || !again.Immutable() {
			t.Errorf("%s is written back as %s", c.want, again.Text)
		}
	}
	for selector, want := range map[string]string{
		"{operation: link}":               `spec.layerSelector.operation: "link" is not supported; supported are: extract, copy`,
		"{mediaType: 'a b'}":              `spec.layerSelector.mediaType: "a b" is not a media type`,
		"{mediaType: a/x, digest: 'x:y'}": "the field spec.layerSelector.digest is not supported",
	} {
		_, err := ReadRequest(context.Background(), []byte(with(selector)), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", selector, err, want)
		}
	}
}

func TestTheSecretOfASourceElsewhereIsForeign(t *testing.T) {
	text := strings.NewReplacer("{name: podinfo, namespace: apps}", "{name: podinfo, namespace: flux-system}", "name: podinfo}\n  values", "name: podinfo, namespace: flux-system}\n  values", "  interval: 5m", "  secretRef: {name: charts}").Replace(helmRelease)
	s := read(t, text, nil).Sources[0]
	if s.Secret != "flux-system/charts" || !s.Foreign {
		t.Errorf("got %+v", s)
	}
}

func TestPathsInARepositoryKeepTheirNames(t *testing.T) {
	for path, want := range map[string]string{
		"": "", ".": "", "./": "", "/": "", "./deploy/": "deploy", "deploy": "deploy",
		".github/manifests": ".github/manifests", "./.config": ".config", "../up": "../up",
	} {
		if got := cleanSubdir(path); got != want {
			t.Errorf("%q: got %q, want %q", path, got, want)
		}
	}
}
