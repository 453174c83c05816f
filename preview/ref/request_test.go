package ref

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// cluster answers for objects by "KIND NAMESPACE/NAME".
type cluster map[string]map[string]any

func (c cluster) Get(_ context.Context, ref preview.Ref) (map[string]any, error) {
	return c[ref.Kind+" "+ref.Namespace+"/"+ref.Name], nil
}

// ReadRequest reads a file with one request.
func ReadRequest(ctx context.Context, text []byte, more Objects) (*Request, error) {
	all, err := ReadRequests(ctx, text, more, "")
	if err != nil {
		return nil, err
	}
	if len(all) > 1 {
		return nil, fmt.Errorf("%d requests", len(all))
	}
	return all[0], nil
}

func read(t *testing.T, text string, more Objects) *Request {
	t.Helper()
	r, err := ReadRequest(context.Background(), []byte(text), more)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const (
	pinCommit = "0123456789abcdef0123456789abcdef01234567"

	clusterExtension = `apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata:
  name: argocd # the one of the platform team
spec:
  namespace: argocd
  serviceAccount:
    name: argocd-installer
  source:
    sourceType: Catalog
    catalog:
      packageName: argocd-operator

      version: ">=0.6"  # bumped by a bot
      channels: [alpha]
`
	subscription = `apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: my-operator, namespace: operators}
spec:
  name: my-operator
  channel: stable
  source: community
  sourceNamespace: olm
  config:
    nodeSelector: {disk: ssd}
`
	helmRelease = `# podinfo
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: podinfo, namespace: apps}
spec:
  interval: 5m
  url: https://charts.example.com/stable/
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: podinfo
  namespace: apps
spec:
  interval: 10m
  chart:
    spec:
      chart: podinfo
      version: '6.5.*'
      sourceRef: {kind: HelmRepository, name: podinfo}
  values:
    replicaCount: 2
`
	kustomizationOfGit = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: apps
  namespace: flux-system
spec:
  path: ./clusters/prod
  prune: true
  sourceRef:
    kind: GitRepository
    name: fleet
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: fleet
  namespace: flux-system
spec:
  url: ssh://git@git.example.com/org/fleet
  ref:
    branch: main
  secretRef:
    name: deploy-key
`
)

func TestARequestOfEachKindAsksForWhatItsControllerWouldInstall(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		check      func(*Request) (got, want any)
	}{
		{"ClusterExtension: a package", clusterExtension, func(r *Request) (any, any) {
			return []any{r.Release, r.Namespace, *r.Package},
				[]any{"argocd", "argocd", PackageRequest{Name: "argocd-operator", Version: ">=0.6", Channels: []string{"alpha"}, EveryChannel: true}}
		}},
		{"Subscription: a package of a CatalogSource", subscription, func(r *Request) (any, any) {
			return []any{r.Release, r.Namespace, *r.Package, r.Values}, []any{"my-operator", "operators",
				PackageRequest{Name: "my-operator", Channels: []string{"stable"}, CatalogSource: "olm/community"},
				map[string]any{"deploymentConfig": map[string]any{"nodeSelector": map[string]any{"disk": "ssd"}}}}
		}},
		{"HelmRelease: a chart of a repository", helmRelease, func(r *Request) (any, any) {
			return []any{r.Release, r.Namespace, r.Format, r.Sources[0].Reference.Text, r.Values},
				[]any{"podinfo", "apps", "helm", "chart+https://charts.example.com/stable/podinfo?version=6.5.*", map[string]any{"replicaCount": 2.0}}
		}},
		{"HelmRelease into another namespace: Flux's own name", strings.Replace(helmRelease, "  interval: 10m\n", "  targetNamespace: podinfo\n", 1), func(r *Request) (any, any) {
			return []any{r.Release, r.Namespace}, []any{"podinfo-podinfo", "podinfo"}
		}},
		{"Kustomization: a directory of a repository", kustomizationOfGit, func(r *Request) (any, any) {
			return []any{r.Release, r.Namespace, r.Path, r.Sources[0].Reference.Text, r.Sources[0].Secret, r.Sources[0].Foreign},
				[]any{"apps", "flux-system", "clusters/prod", "git+ssh://git@git.example.com/org/fleet?ref=refs%2Fheads%2Fmain", "flux-system/deploy-key", false}
		}},
		{"Application: a chart with values", `{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "web", "namespace": "argocd"}, "spec": {
			"project": "default", "destination": {"server": "https://kubernetes.default.svc", "namespace": "web"},
			"source": {"repoURL": "https://charts.example.com", "chart": "nginx", "targetRevision": "~1.2", "helm": {"valuesObject": {"a": {"b": 1}}, "parameters": [{"name": "a.c", "value": "2"}]}}}}`,
			func(r *Request) (any, any) {
				return []any{r.Namespace, r.Sources[0].Reference.Text, r.Values, r.Set},
					[]any{"web", "chart+https://charts.example.com/nginx?version=~1.2", map[string]any{"a": map[string]any{"b": 1.0}}, []string{"a.c=2"}}
			}},
		{"BundleDeployment v1alpha1: the Bundle within", `apiVersion: core.rukpak.io/v1alpha1
kind: BundleDeployment
metadata: {name: combo}
spec:
  provisionerClassName: core-rukpak-io-plain
  template:
    metadata: {labels: {app: combo}}
    spec:
      provisionerClassName: core-rukpak-io-registry
      source: {type: image, image: {ref: "quay.io/operator-framework/combo:v1", pullSecret: quay}}
`, func(r *Request) (any, any) {
			return []any{r.Release, r.Format, r.Sources[0].Reference.Image, r.Sources[0].Secret},
				[]any{"combo", "registryv1", "quay.io/operator-framework/combo:v1", "rukpak-system/quay"}
		}},
		{"BundleDeployment as proposed: several sources", `apiVersion: core.rukpak.io/v1alpha2
kind: BundleDeployment
metadata: {name: combo}
spec:
  format: plain
  paused: true
  sources:
  - kind: git
    git: {repository: "https://git.example.com/org/base", ref: a1, directory: deploy}
    destination: manifests
  - kind: http
    uri: https://example.com/x.tgz
    auth: {secret: {name: web}}
    destination: manifests/more
`, func(r *Request) (any, any) {
			return []any{r.Paused, r.Sources[0].Reference.Subdir, r.Sources[0].Destination, r.Sources[1].Reference.URL, r.Sources[1].Secret},
				[]any{"spec.paused", "deploy", "manifests", "https://example.com/x.tgz", "rukpak-system/web"}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, want := tc.check(read(t, tc.text, nil)); !reflect.DeepEqual(got, want) {
				t.Errorf("\ngot  %v\nwant %v", got, want)
			}
		})
	}
}

func TestAFieldThatIsNotSupportedIsNamed(t *testing.T) {
	for _, tc := range []struct{ name, text, from, to, want string }{
		{"all of them at once", helmRelease, "  values:\n", "  kubeConfig: {secretRef: {name: other}}\n  postRenderers: [{helm: {}}]\n  values:\n", "the fields spec.kubeConfig, spec.postRenderers are not supported"},
		{"of a source beside it", helmRelease, "  interval: 5m", "  verify: {provider: cosign}", "HelmRepository apps/podinfo: the field spec.verify is not supported"},
		{"one that nobody knows", clusterExtension, "      channels", "      chanels: [x]\n      channels", "the field spec.source.catalog.chanels is not supported"},
		{"in a list", kustomizationOfGit, "  prune: true", "  postBuild: {substituteStrategy: a}", "the field spec.postBuild.substituteStrategy is not supported"},
		{"a variable without a name", kustomizationOfGit, "  prune: true", "  postBuild: {substitute: {a-b: c}}", "spec.postBuild: \"a-b\" is not the name of a variable"},
		{"an artifact of another controller", kustomizationOfGit, "kind: GitRepository", "kind: ExternalArtifact", "ExternalArtifact flux-system/fleet is made in the cluster, by an ArtifactGenerator or another controller, and is not read from there; name the directory that it is made of"},
		{"TLS is not switched off by a file", kustomizationOfGit, "  secretRef:", "  insecure: true\n  secretRef:", "spec.insecure: a request file cannot switch off"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := strings.Replace(tc.text, tc.from, tc.to, 1)
			if text == tc.text {
				t.Fatal("nothing was replaced")
			}
			_, err := ReadRequest(context.Background(), []byte(text), nil)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v\nwant %s", err, tc.want)
			}
		})
	}
}

func TestAFileThatIsNoRequestIsRefusedInASentence(t *testing.T) {
	own := "apiVersion: kubectl-operator/v1alpha1\nkind: Request\nmetadata: {name: a, namespace: a}\nspec:\n"
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", "", "it holds no object, and no request"},
		{"another kind", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n", "it holds Pod a, and no request"},
		{"an unknown version", strings.Replace(clusterExtension, "io/v1", "io/v7", 1), "known are: v1"},
		{"a program as format", own + "  reference: oci://example.com/a:1\n  format: my-program\n", "a request file cannot name a program"},
		{"no source", own + "  installMode: OwnNamespace\n", "it asks for a package or for sources"},
		{"both", own + "  reference: mongodb\n  sources: [{reference: ./a}]\n", "there are sources or a package too"},
		{"a path out of the content", own + "  reference: ./a\n  path: ../b\n", "not a path within the content"},
		{"a source that lies elsewhere", strings.Split(helmRelease, "---\n")[1], "refers to HelmRepository apps/podinfo, which is not in the file, and no cluster may be asked"},
		{"a local repository", strings.Replace(kustomizationOfGit, "ssh://git@git.example.com/org/fleet", "file:///etc", 1), "given as https:// or ssh://"},
		{"a local repository of Argo CD", "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a, namespace: argocd}\nspec:\n  destination: {namespace: a}\n  source: {repoURL: 'file:///etc', path: a}\n", "Application argocd/a: spec.source.repoURL: a git repository is given as https:// or ssh://"},
		{"sources of Argo CD without content", "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a, namespace: argocd}\nspec:\n  sources: [{repoURL: 'https://git.example.com/a', ref: v}]\n", "spec.sources: 0 sources with content"},
		{"sources of Argo CD as several releases", "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a, namespace: argocd}\nspec:\n  sources: [{repoURL: 'https://git.example.com/a', path: a}, {repoURL: 'https://c.example.com', chart: b, helm: {releaseName: other}}]\n", "sources[1].helm.releaseName: of several sources"},
		{"a password in a reference", strings.Replace(kustomizationOfGit, "ssh://git@git.example.com", "https://me:hunter2@git.example.com", 1), "carries"},
		{"sections beside sources", own + "  sources: [{reference: ./a}]\n  sections: [{name: a, reference: ./a}]\n", "Request a/a: spec.sources: there are sections too; make it one of them"},
		{"sections beside what each says itself", own + "  format: helm\n  sections: [{name: a, reference: ./a}]\n", "Request a/a: spec.format: each section says that itself; put it there"},
		{"no section", own + "  sections: []\n", "spec.sections: it is empty"},
		{"sections that are no list", own + "  sections: {a: b}\n", "spec.sections: it is a map where a list is due"},
		{"a section that is text", own + "  sections: [a]\n", "spec.sections[0].name: it is missing"},
		{"a section without a name", own + "  sections: [{reference: ./a}]\n", "spec.sections[0].name: it is missing"},
		{"two sections of one name", own + "  sections: [{name: a, reference: ./a}, {name: a, reference: ./b}]\n", "spec.sections[1].name: two sections are named a; names must be unique"},
		{"a section of another name than a package can have", own + "  sections: [{name: ../a, reference: ./a}]\n", `spec.sections[0].name: "../a": want at most 63 of a-z`},
		{"a section in no namespace", own + "  sections: [{name: a, namespace: A, reference: ./a}]\n", `spec.sections[0].namespace: "A" is not a namespace`},
		{"a section without content", own + "  sections: [{name: a, values: {b: c}}]\n", "Request a/a: section a: it asks for a package or for sources; give one of the two"},
		{"a section with content twice", own + "  sections: [{name: a, reference: ./a, package: {name: b}}]\n", "spec.sections[0].reference: there are sources or a package too"},
		{"a section with a field that nobody knows", own + "  sections: [{name: a, reference: ./a, requires: [b]}]\n", "Request a/a: the field spec.sections[0].requires is not supported"},
		{"a section with sections", own + "  sections: [{name: a, sections: [{name: b, reference: ./a}]}]\n", "spec.sections[0].sections is not supported"},
		{"a section with a program as format", own + "  sections: [{name: a, reference: ./a, format: my-program}]\n", "section a: the format \"my-program\" is not built in, and a request file cannot name a program"},
		{"a section with a path out of the content", own + "  sections: [{name: a, reference: ./a, path: ../b}]\n", "section a: \"../b\" is not a path within the content"},
		{"a lock file without a digest", "apiVersion: imgpkg.carvel.dev/v1alpha1\nkind: BundleLock\nbundle: {image: 'registry.example.com/a/b:v1'}\n", "bundle.image: it has no digest; a lock file names what it locks by one"},
		{"a lock file without a bundle", "apiVersion: imgpkg.carvel.dev/v1alpha1\nkind: BundleLock\nbundle: {tag: v1}\n", "a BundleLock, has no usable"},
		{"a lock file of images alone", "apiVersion: imgpkg.carvel.dev/v1alpha1\nkind: ImagesLock\nimages: []\n", "it holds ImagesLock"},
		{"text where a list belongs", strings.Replace(clusterExtension, "[alpha]", "alpha", 1), "spec.source.catalog.channels: it is text where a list is due"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ReadRequest(context.Background(), []byte(tc.text), nil)
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "the reference is empty") {
				t.Errorf("got %v\nwant %s", err, tc.want)
			}
		})
	}
}

// The values are those that ChartValuesFromReferences of github.com/fluxcd/pkg/chartutil
// v1.35.0 makes of the same references.
func TestValuesFromGoWhereTargetPathSays(t *testing.T) {
	data := map[string]any{
		"arn": "arn:aws:iam::123456789012:role/x", "number": "123456789012", "quoted": "'1'", "list": "{a,b}", "comma": "a,x=1", "brokers": "b-1:9094,b-2:9094",
		"values.yaml": "replicaCount: 1\nui: {color: red}\n",
	}
	type m = map[string]any
	for _, tc := range []struct {
		name, from, values string
		want               m
		fails              string
	}{
		{name: "a text", from: `[{kind: ConfigMap, name: c, valuesKey: arn, targetPath: 'sa.annotations.eks\.amazonaws\.com/role-arn'}]`,
			want: m{"replicaCount": 2.0, "sa": m{"annotations": m{"eks.amazonaws.com/role-arn": "arn:aws:iam::123456789012:role/x"}}}},
		{name: "a whole number", from: "[{kind: ConfigMap, name: c, valuesKey: number, targetPath: account}]", want: m{"replicaCount": 2.0, "account": int64(123456789012)}},
		{name: "a text in quotes", from: "[{kind: ConfigMap, name: c, valuesKey: quoted, targetPath: a}]", want: m{"replicaCount": 2.0, "a": "1"}},
		{name: "a list", from: "[{kind: ConfigMap, name: c, valuesKey: list, targetPath: 'a.b[1]'}]", want: m{"replicaCount": 2.0, "a": m{"b": []any{nil, []any{"a", "b"}}}}},
		{name: "a comma separates", from: "[{kind: ConfigMap, name: c, valuesKey: comma, targetPath: a}]", want: m{"replicaCount": 2.0, "a": "a", "x": int64(1)}},
		{name: "a literal text", from: "[{kind: ConfigMap, name: c, valuesKey: brokers, targetPath: a.b, literal: true}]", want: m{"replicaCount": 2.0, "a": m{"b": "b-1:9094,b-2:9094"}}},
		{name: "files and paths", from: "[{kind: ConfigMap, name: c}, {kind: ConfigMap, name: c, valuesKey: quoted, targetPath: ui.size}]",
			want: m{"replicaCount": 2.0, "ui": m{"color": "red", "size": "1"}}},
		{name: "an optional object that is not there", from: "[{kind: ConfigMap, name: none, optional: true}]", want: m{"replicaCount": 2.0}},
		{name: "an optional key that is not there", from: "[{kind: ConfigMap, name: c, valuesKey: none, optional: true}]", want: m{"replicaCount": 2.0}},
		{name: "a key that is not there", from: "[{kind: ConfigMap, name: c, valuesKey: none}]", fails: "spec.valuesFrom[0]: it has no key none"},
		{name: "a path that is none", from: "[{kind: ConfigMap, name: c, valuesKey: number, targetPath: 'a..b'}]", fails: `spec.valuesFrom[0].targetPath: "a..b": want KEY=VALUE`},
		{name: "a path below a number", from: "[{kind: ConfigMap, name: c, valuesKey: number, targetPath: replicaCount.x}]", fails: "replicaCount is neither mapping nor list"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := strings.Replace(helmRelease, "  values:\n", "  valuesFrom: "+tc.from+"\n  values:\n", 1)
			got, err := ReadRequest(context.Background(), []byte(text), cluster{"ConfigMap apps/c": {"kind": "ConfigMap", "data": data}})
			if tc.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tc.fails) {
					t.Fatalf("error = %v, want %s", err, tc.fails)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(got.Values, tc.want) {
				t.Errorf("%v\ngot  %#v\nwant %#v", err, got, tc.want)
			}
		})
	}
}

// Argo CD gives parameters to helm as --set NAME=VALUE, and forced texts after them as
// --set-string, with a backslash before each comma.
func TestParametersOfAnApplicationAreThoseOfHelm(t *testing.T) {
	application := func(parameters string) string {
		return `{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "web", "namespace": "argocd"}, "spec": {
			"project": "default", "destination": {"server": "https://kubernetes.default.svc", "namespace": "web"},
			"source": {"repoURL": "https://charts.example.com", "chart": "nginx", "targetRevision": "1.2.3", "helm": {"parameters": ` + parameters + `}}}}`
	}
	got, err := ReadRequest(context.Background(), []byte(application(`[{"name": "account", "value": "123456789012"}, {"name": "tag", "value": "1", "forceString": true},
		{"name": "list[0]", "value": "a,b\\,c"}, {"name": "l", "value": "{a,b}"}, {"name": "a\\.b", "value": "x"}]`)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"account=123456789012", `list[0]=a\,b\,c`, "l={a,b}", `a\.b=x`}; !reflect.DeepEqual(got.Set, want) || !reflect.DeepEqual(got.SetString, []string{"tag=1"}) {
		t.Errorf("got %q, %q", got.Set, got.SetString)
	}
	for parameters, want := range map[string]string{
		`[{"name": "a..b", "value": "x"}]`:        `parameters[0]: "a..b": want KEY=VALUE`,
		`[{"name": "a[1000000]", "value": "x"}]`:  "index of 1000000 is greater than maximum supported index",
		`[{"name": "a", "value": "$ARGOCD_APP"}]`: "Argo CD replaces $NAME in it",
	} {
		if _, err := ReadRequest(context.Background(), []byte(application(parameters)), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", parameters, err, want)
		}
	}
}

func TestValuesComeFromObjectsOfTheRequestsNamespace(t *testing.T) {
	text := strings.Replace(helmRelease, "  values:\n", "  valuesFrom:\n  - {kind: ConfigMap, name: base}\n  - {kind: Secret, name: keys, valuesKey: v.yaml}\n  values:\n", 1)
	more := cluster{
		"ConfigMap apps/base": {"kind": "ConfigMap", "data": map[string]any{"values.yaml": "replicaCount: 1\nui: {color: red, logo: x}\n"}},
		"Secret apps/keys":    {"kind": "Secret", "data": map[string]any{"v.yaml": base64.StdEncoding.EncodeToString([]byte("ui: {color: blue}"))}},
	}
	want := map[string]any{"replicaCount": 2.0, "ui": map[string]any{"color": "blue", "logo": "x"}}
	if got := read(t, text, more); !reflect.DeepEqual(got.Values, want) || !got.SecretValues {
		t.Errorf("got %+v", got)
	}
	more["Secret apps/keys"]["data"] = map[string]any{"v.yaml": base64.StdEncoding.EncodeToString([]byte("hunter2: [hunter2"))}
	if _, err := ReadRequest(context.Background(), []byte(text), more); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
	delete(more, "Secret apps/keys")
	if _, err := ReadRequest(context.Background(), []byte(text), more); err == nil || !strings.Contains(err.Error(), "Secret apps/keys, which is neither in the file nor in the cluster") {
		t.Errorf("got %v", err)
	}
}

// An object that exists nowhere is missing, also where the cluster serves an older version of
// its kind, or none.
func TestASourceThatExistsNowhereIsMissing(t *testing.T) {
	text := strings.Split(helmRelease, "---\n")[1]
	notServed := &preview.Refusal{Reason: preview.ReasonNotServed, Message: "kind not served"}
	for name, answers := range map[string]map[string]error{
		"none": {}, "an older version is not served": {"v1beta2": notServed}, "nothing is served": {"v1": notServed, "v1beta2": notServed},
	} {
		_, err := ReadRequest(t.Context(), []byte(text), refusing(answers))
		var missing *MissingError
		if !errors.As(err, &missing) || missing.Ref.Kind != "HelmRepository" || missing.Ref.Namespace != "apps" || missing.Asked.Kind != "HelmRelease" {
			t.Errorf("%s: %v", name, err)
		}
	}
	var missing *MissingError
	broken := refusing{"v1": errors.New("connection refused"), "v1beta2": notServed}
	if _, err := ReadRequest(t.Context(), []byte(text), broken); errors.As(err, &missing) || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("what cannot be read is %v", err)
	}
}

// refusing has no object, and answers for versions with errors.
type refusing map[string]error

func (r refusing) Get(_ context.Context, ref preview.Ref) (map[string]any, error) {
	_, version, _ := strings.Cut(ref.APIVersion, "/")
	return nil, r[version]
}

func TestVariablesOfAKustomizationComeFromItAndFromObjects(t *testing.T) {
	text := strings.Replace(kustomizationOfGit, "  prune: true\n", "  postBuild:\n    substitute: {city: Oslo, empty: ''}\n    substituteFrom:\n    - {kind: ConfigMap, name: base}\n    - {kind: Secret, name: keys}\n", 1)
	more := cluster{
		"ConfigMap flux-system/base": {"kind": "ConfigMap", "data": map[string]any{"city": "Rome", "region": "eu\n", "key": "x"}},
		"Secret flux-system/keys":    {"kind": "Secret", "data": map[string]any{"key": base64.StdEncoding.EncodeToString([]byte("hunter2"))}},
	}
	r := read(t, text, more)
	want := map[string]string{"city": "Oslo", "empty": "", "region": "eu", "key": "hunter2"}
	if !reflect.DeepEqual(r.Variables, want) || !r.SecretValues || len(r.Notes) != 1 || r.Notes[0].Text != "values come from Secret flux-system/keys" {
		t.Errorf("got %v, %+v", r.Variables, r.Notes)
	}
	delete(more, "ConfigMap flux-system/base")
	if _, err := ReadRequest(context.Background(), []byte(text), more); err == nil || !strings.Contains(err.Error(), "ConfigMap flux-system/base, which is neither in the file nor in the cluster") {
		t.Errorf("got %v", err)
	}
	if _, err := ReadRequest(context.Background(), []byte(text), nil); err == nil || !strings.Contains(err.Error(), "leave out --offline") {
		t.Errorf("got %v", err)
	}
}

func TestWritingBackChangesOnlyWhatFloats(t *testing.T) {
	pinned := Pinned{ContentDigest: digest, Version: "0.8.0", Bundle: "my-operator.v0.8.0", Channel: "stable"}
	git := preview.Source{Kind: "git", Reference: "git+ssh://git@git.example.com/org/fleet?ref=" + pinCommit, Digest: digest}
	annotated := "annotations:\n    kubectl-operator/content-digest: " + digest + "\n  name: "
	for _, tc := range []struct {
		name, text string
		sources    []preview.Source
		replace    []string
	}{
		{"ClusterExtension: the version", clusterExtension, nil, []string{"name: argocd #", annotated + "argocd #", `">=0.6"  # bumped`, `"0.8.0"  # bumped`}},
		{"HelmRelease: the chart's version", helmRelease, []preview.Source{{Digest: digest}}, []string{"name: podinfo\n  namespace", annotated + "podinfo\n  namespace", "'6.5.*'", `"0.8.0"`}},
		{"Kustomization: the commit of its source", kustomizationOfGit, []preview.Source{git}, []string{"name: apps", annotated + "apps", "    branch: main", "    commit: " + pinCommit + "\n    branch: main"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := read(t, tc.text, nil)
			pinned.Sources = tc.sources
			got, err := r.Pin(pinned)
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.NewReplacer(tc.replace...).Replace(tc.text); string(got) != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if again := read(t, string(got), nil); again.ContentDigest != digest {
				t.Errorf("read again: %+v", again)
			}
		})
	}
	r := read(t, subscription, nil)
	pinned.Sources = nil
	got, err := r.Pin(pinned)
	if err != nil {
		t.Fatal(err)
	}
	if again := read(t, string(got), nil); again.Package.Bundle != "my-operator.v0.8.0" || !strings.Contains(string(got), `installPlanApproval: Manual`) {
		t.Errorf("got\n%s", got)
	}
}

func TestWritingBackKeepsToJSONWhereTheFileIsJSON(t *testing.T) {
	text := `{"apiVersion":"core.rukpak.io/v1alpha2","kind":"BundleDeployment","metadata":{"name":"a"},"spec":{"source":{"type":"git","git":{"repository":"https://h.example.com/r","ref":{"tag":"v1"}}}}}`
	got, err := read(t, text, nil).Pin(Pinned{ContentDigest: digest, Sources: []preview.Source{{Reference: "git+https://h.example.com/r?ref=" + pinCommit}}})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer(`{"name"`, `{"annotations": {"kubectl-operator/content-digest":"`+digest+`"}, "name"`, `{"tag":"v1"}`, `{"commit":"`+pinCommit+`"}`).Replace(text)
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestARequestWithoutAFileReadsBackAsItself(t *testing.T) {
	reference, err := Parse("registry.example.com/a/b:v1")
	if err != nil {
		t.Fatal(err)
	}
	asked := &Request{Release: "b", Namespace: "ns", Sources: []RequestSource{{Reference: reference}}, Values: map[string]any{"a": int64(1)}, InstallMode: "OwnNamespace"}
	text, err := asked.Write(Pinned{ContentDigest: digest, Sources: []preview.Source{{Digest: digest}}})
	if err != nil {
		t.Fatal(err)
	}
	r := read(t, string(text), nil)
	if r.Sources[0].Reference.Image != "registry.example.com/a/b@"+digest || r.Release != "b" || r.Namespace != "ns" || r.InstallMode != "OwnNamespace" || !reflect.DeepEqual(r.Values, asked.Values) {
		t.Errorf("got\n%s", text)
	}
}

func TestTheExamplesOfTheManualAreRequests(t *testing.T) {
	page, err := os.ReadFile("../../cmd/internal/cli/help/requests.md")
	if err != nil {
		t.Fatal(err)
	}
	const head = "apiVersion: kubectl-operator/v1alpha1\nkind: Request\n"
	examples := strings.Split(string(page), "```yaml\n"+head)[1:]
	if len(examples) != 2 {
		t.Fatalf("the manual has %d examples of a Request", len(examples))
	}
	for i := range examples {
		examples[i], _, _ = strings.Cut(examples[i], "```")
	}
	r := read(t, head+examples[0], nil)
	if len(r.Sources) != 2 || r.Sources[0].Secret != "shop/git" || r.Sources[1].Destination != "overlay" || r.Path != "overlay" {
		t.Errorf("it is read as %+v", r)
	}
	r = read(t, head+examples[1], nil)
	if len(r.Sections) != 2 || r.Sections[0].Namespace != "spark-operator" || r.Sections[1].Name != "rights" {
		t.Errorf("it is read as %+v", r)
	}
}

func FuzzReadRequest(f *testing.F) {
	for _, seed := range requestSamples() {
		f.Add(seed)
	}
	f.Add("{}")
	f.Add("a: *b")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ReadRequest(context.Background(), []byte(text), nil)
		if err != nil {
			return
		}
		out, err := r.Pin(pinnedFor(r))
		if err != nil {
			return
		}
		if again, err := ReadRequest(context.Background(), out, nil); err != nil || again.ContentDigest != digest && !r.noAnnotations {
			t.Errorf("written back as %q: %v", out, err)
		}
	})
}
