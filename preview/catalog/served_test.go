package catalog

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

const pinned = "registry.example/catalog@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestObjectsOfAClusterAreCatalogsOrSayWhyNot(t *testing.T) {
	clusterCatalog := "kind: ClusterCatalog\nmetadata: {name: c}\n"
	catalogSource := "kind: CatalogSource\nmetadata: {name: c, namespace: ns}\n"
	tests := []struct {
		name, body string
		endpoint   string // NAMESPACE SERVICE PORT PATH
		image      string
		priority   int
		problem    string
	}{
		{"catalogd serves it", clusterCatalog + "spec: {priority: 7}\nstatus: {urls: {base: 'https://catalogd-service.olmv1-system.svc/catalogs/c'}, resolvedSource: {image: {ref: '" + pinned + "'}}}",
			"olmv1-system catalogd-service 443 /catalogs/c", pinned, 7, ""},
		{"at another port, by its whole name", clusterCatalog + "status: {urls: {base: 'https://catalogd.ns.svc.cluster.local:8443/catalogs/c'}}",
			"ns catalogd 8443 /catalogs/c", "", 0, ""},
		{"without a URL", clusterCatalog + "status: {resolvedSource: {image: {ref: '" + pinned + "'}}}", "", pinned, 0, ""},
		{"switched off", clusterCatalog + "spec: {availabilityMode: Unavailable}\nstatus: {resolvedSource: {image: {ref: '" + pinned + "'}}}", "", "", 0, "availabilityMode is Unavailable"},
		{"just made", clusterCatalog, "", "", 0, "not unpacked yet"},
		{"a URL outside the cluster", clusterCatalog + "status: {urls: {base: 'https://evil.example/catalogs/c'}}", "", "", 0, "its URL is not https://SERVICE.NAMESPACE.svc"},
		{"a URL without TLS", clusterCatalog + "status: {urls: {base: 'http://a.b.svc/catalogs/c'}}", "", "", 0, "its URL is not"},
		{"a URL that climbs", clusterCatalog + "status: {urls: {base: 'https://a.b.svc/catalogs/../../x'}}", "", "", 0, "its URL is not"},
		{"a URL that climbs in code", clusterCatalog + "status: {urls: {base: 'https://a.b.svc/catalogs/%2e%2e%2fx'}}", "", "", 0, "its URL is not"},
		{"a URL with a name of its own", clusterCatalog + "status: {urls: {base: 'https://u:p@a.b.svc/catalogs/c'}}", "", "", 0, "its URL is not"},
		{"a bad URL and a good image", clusterCatalog + "status: {urls: {base: 'https://evil.example/'}, resolvedSource: {image: {ref: '" + pinned + "'}}}", "", pinned, 0, ""},
		{"an image that floats", clusterCatalog + "status: {resolvedSource: {image: {ref: 'registry.example/catalog:latest'}}}", "", "", 0, "names no digest"},
		{"a source with an image", catalogSource + "spec: {image: 'registry.example/catalog:latest', priority: -400}", "", "registry.example/catalog:latest", -400, ""},
		{"a source with an image that is none", catalogSource + "spec: {image: ':'}", "", "", 0, "its image"},
		{"a source with an address", catalogSource + "spec: {address: 'x:50051'}", "", "", 0, "only the address of a gRPC server"},
		{"a source with a ConfigMap", catalogSource + "spec: {sourceType: configmap, configMap: x}", "", "", 0, "made from a ConfigMap"},
		{"an empty source", catalogSource, "", "", 0, "names no image"},
		{"a priority that is none", catalogSource + "spec: {image: 'registry.example/catalog:latest', priority: 99999999999}", "", "registry.example/catalog:latest", 0, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			docs, err := preview.Decode([]byte(test.body))
			if err != nil {
				t.Fatal(err)
			}
			got := ReadServed(docs[0].(map[string]any))
			endpoint := ""
			if e := got.Endpoint; e != nil {
				endpoint = strings.Join([]string{e.Namespace, e.Service, e.Port, e.Path}, " ")
			}
			if endpoint != test.endpoint || got.Image != test.image || got.Priority != test.priority {
				t.Errorf("got %+v, endpoint %q", got, endpoint)
			}
			if (got.Problem == "") != (test.problem == "") || !strings.Contains(got.Problem, test.problem) {
				t.Errorf("problem %q, want %q", got.Problem, test.problem)
			}
			parsed, ok, err := ParseServed(got.Reference())
			if !ok || err != nil || parsed != got.ref() {
				t.Errorf("%s reads as %+v, %v", got.Reference(), parsed, err)
			}
		})
	}
}

func TestNamesOfCatalogsInTheCluster(t *testing.T) {
	for text, want := range map[string]string{
		"clustercatalog:":       "want clustercatalog:NAME",
		"clustercatalog:a/b":    "want clustercatalog:NAME",
		"catalogsource:a":       "want catalogsource:NAMESPACE/NAME",
		"catalogsource:a/b/c":   "want catalogsource:NAMESPACE/NAME",
		"catalogsource:a/\x1b[": "want catalogsource:NAMESPACE/NAME",
	} {
		_, ok, err := ParseServed(text)
		if !ok {
			t.Errorf("%s is none", text)
		}
		mustFail(t, err, want)
	}
	for _, text := range []string{"./dir", "registry.example/c:latest", "community", ""} {
		if _, ok, err := ParseServed(text); ok || err != nil {
			t.Errorf("%s is one: %v", text, err)
		}
	}
}

func FuzzReadServed(f *testing.F) {
	f.Add([]byte("kind: ClusterCatalog\nspec: {priority: 7}\nstatus: {urls: {base: 'https://a.b.svc/catalogs/c'}}"))
	f.Add([]byte("kind: CatalogSource\nspec: {image: a/b:c}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		docs, err := preview.Decode(data)
		if err != nil || len(docs) == 0 {
			return
		}
		body, _ := docs[0].(map[string]any)
		s := ReadServed(body)
		if e := s.Endpoint; e != nil && (strings.ContainsAny(e.Service+e.Namespace+e.Port, "/%?#:") || strings.Contains(e.Path, "..")) {
			t.Errorf("endpoint %+v", e)
		}
		if s.Problem == "" && s.Endpoint == nil && s.Image == "" {
			t.Error("neither usable nor a problem")
		}
	})
}
