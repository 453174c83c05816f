package preview

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// object decodes one YAML document for a test.
func object(t testing.TB, text string) map[string]any {
	t.Helper()
	docs, err := Decode([]byte(text))
	if err != nil || len(docs) != 1 {
		t.Fatalf("%d documents, %v in %s", len(docs), err, text)
	}
	return docs[0].(map[string]any)
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestNormalize(t *testing.T) {
	for name, c := range map[string]struct {
		in, want   string
		namespaced bool
		removed    []string
	}{
		"status and server-set metadata go, and are reported when they held something": {
			"{apiVersion: v1, kind: Service, metadata: {name: a, uid: x, creationTimestamp: null, generation: 0}, status: {loadBalancer: {}}}",
			"{apiVersion: v1, kind: Service, metadata: {name: a}}", true, []string{".metadata.uid"},
		},
		"a filled status is reported": {
			"{apiVersion: v1, kind: Service, metadata: {name: a}, status: {x: 1}}",
			"{apiVersion: v1, kind: Service, metadata: {name: a}}", true, []string{".status"},
		},
		"a cluster-scoped kind has no namespace": {
			"{apiVersion: v1, kind: Node, metadata: {name: a, namespace: b}}",
			"{apiVersion: v1, kind: Node, metadata: {name: a}}", false, []string{".metadata.namespace"},
		},
		"rules of an aggregated ClusterRole belong to its controller": {
			"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: a}, aggregationRule: {clusterRoleSelectors: []}, rules: []}",
			"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: a}, aggregationRule: {clusterRoleSelectors: []}}", false, nil,
		},
		"a caBundle without a certificate is for others to fill in": {
			"{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: a}, webhooks: [{name: x, clientConfig: {caBundle: Cg==, url: u}}, {name: y, clientConfig: {caBundle: ''}}, {name: z, clientConfig: {caBundle: " + firstCA + "}}]}",
			"{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: a}, webhooks: [{name: x, clientConfig: {url: u}}, {name: y, clientConfig: {}}, {name: z, clientConfig: {caBundle: " + firstCA + "}}]}",
			false, []string{`.webhooks[name="x"].clientConfig.caBundle`},
		},
		"so is that of an APIService": {
			"{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: a}, spec: {caBundle: 'no base64', group: g}}",
			"{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: a}, spec: {group: g}}", false, []string{".spec.caBundle"},
		},
		"stringData becomes data and wins over it": {
			"{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {k: b2xk, l: bA==}, stringData: {k: new}}",
			"{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {k: bmV3, l: bA==}}", true, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			body := object(t, c.in)
			removed, err := Normalize(body, c.namespaced)
			if err != nil || !reflect.DeepEqual(body, object(t, c.want)) || !reflect.DeepEqual(removed, c.removed) {
				t.Fatalf("got %s, removed %v, %v", asJSON(t, body), removed, err)
			}
		})
	}
}

func TestFlatten(t *testing.T) {
	objects, err := Flatten(object(t, "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: A}, {apiVersion: v1, kind: BList, items: [{apiVersion: v1, kind: B}]}]}"))
	if err != nil || len(objects) != 2 || objects[1]["kind"] != "B" {
		t.Fatalf("got %v, %v", objects, err)
	}
	// In a list of one kind, clients derive an item's missing kind from the list's.
	objects, err = Flatten(object(t, "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBindingList, items: [{metadata: {name: a}}, {apiVersion: v1, kind: A}]}"))
	if err != nil || len(objects) != 2 || RefOf(objects[0]).ID() != "rbac.authorization.k8s.io/ClusterRoleBinding/-/a" || objects[1]["kind"] != "A" {
		t.Fatalf("got %v, %v", objects, err)
	}
	for _, text := range []string{"{kind: A}", "{apiVersion: v1}", "{apiVersion: v1, kind: List, items: [1]}", "{apiVersion: v1, kind: List, items: [{metadata: {}}]}", "{apiVersion: v1, kind: AList, items: [{kind: A}]}"} {
		if got, err := Flatten(object(t, text)); err == nil {
			t.Errorf("%s gave %v", text, got)
		}
	}
}

func TestSensitiveNames(t *testing.T) {
	for name, want := range map[string]bool{
		"DB_PASSWORD": true, "apiKey": true, "api_key": true, "GITHUB_TOKEN": true, "PRIVATE_KEY": true,
		"PASSWORD_FILE": false, "SECRET_NAME": false, "TOKEN_URL": false, "credentials_path": false, "LOG_LEVEL": false,
	} {
		if SensitiveName(name) != want {
			t.Errorf("SensitiveName(%q) = %v", name, !want)
		}
	}
}

const withPassword = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: n}, spec: {template: {spec: {containers: [
  {name: c, env: [{name: DB_PASSWORD, value: "%"}, {name: LOG, value: info}, {name: SECRET_NAME, value: s}]}]}}}}`

func TestSensitiveValuesEnterHashesOnlyThroughScrypt(t *testing.T) {
	a, b := object(t, strings.ReplaceAll(withPassword, "%", "one")), object(t, strings.ReplaceAll(withPassword, "%", "two"))
	hashA, errA := HashObject(a, "sha256:pin")
	hashB, errB := HashObject(b, "sha256:pin")
	if errA != nil || errB != nil || hashA == hashB {
		t.Fatalf("hashes of two passwords: %s %s, %v %v", hashA, hashB, errA, errB)
	}
	if other, _ := HashObject(a, "sha256:other"); other == hashA {
		t.Error("the pin does not salt the hash")
	}
	if plain, _ := Hash(a); plain == hashA {
		t.Error("the password was hashed without scrypt")
	}
	masked := asJSON(t, MaskObject(a))
	if strings.Contains(masked, "one") || !strings.Contains(masked, Masked) || !strings.Contains(masked, "info") {
		t.Errorf("masked: %s", masked)
	}
	if asJSON(t, MaskObject(a)) != asJSON(t, MaskObject(b)) {
		t.Error("masked objects tell two passwords apart")
	}
}

func TestSensitiveLeavesByKind(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"every Secret value":                      {"{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {user: eA==, tls.crt: eQ==}}", []string{".data.user", ".data['tls.crt']"}},
		"ConfigMap values by name":                {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {password: x, password_file: y, level: z}}", []string{".data.password"}},
		"never a CRD's schema":                    {"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a}, spec: {env: [{name: PASSWORD, value: x}]}}", nil},
		"a Secret's last-applied copy":            {"{apiVersion: v1, kind: Secret, metadata: {name: a, annotations: {kubectl.kubernetes.io/last-applied-configuration: x}}}", []string{".metadata.annotations['kubectl.kubernetes.io/last-applied-configuration']"}},
		"env of a custom resource's pod template": {"{apiVersion: x/v1, kind: Y, metadata: {name: a}, spec: {pod: {env: [{name: API_KEY, value: x}]}}}", []string{".spec.pod.env[0].value"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, leaf := range sensitiveLeaves(object(t, c.text)) {
				got = append(got, leaf.path)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Fatalf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestValuesWithSecretsAreHashedThroughScrypt(t *testing.T) {
	plain, _ := HashValues(map[string]any{"watchNamespace": "a"}, "pin")
	if want, _ := Hash(map[string]any{"watchNamespace": "a"}); plain != want {
		t.Errorf("values without secrets: %s", plain)
	}
	one, _ := HashValues(map[string]any{"db": map[string]any{"password": "one"}}, "pin")
	two, _ := HashValues(map[string]any{"db": map[string]any{"password": "two"}}, "pin")
	direct, _ := Hash(map[string]any{"db": map[string]any{"password": "one"}})
	if one == two || one == direct {
		t.Errorf("hashes %s %s %s", one, two, direct)
	}
	if a, _ := HashSecretValues(map[string]any{"pin": "1234"}, "pin"); a == "" || a == one || a == plain {
		t.Errorf("values of a Secret hash to %q", a)
	}
	b, _ := HashSecretValues(map[string]any{"pin": "1234"}, "other")
	if a, _ := HashSecretValues(map[string]any{"pin": "1234"}, "pin"); a == b {
		t.Error("the pin is no salt of the values of a Secret")
	}
	if none, err := HashValues(nil, "pin"); none != "" || err != nil {
		t.Errorf("no values: %q %v", none, err)
	}
}

func TestSecretKeys(t *testing.T) {
	live := object(t, "{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {same: eA==, other: eA==, gone: eA==}}")
	sealed := object(t, "{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {same: eA==, other: eQ==, fresh: eA==}}")
	want := map[string]string{"same": "equal", "other": "changed", "gone": "removed", "fresh": "new"}
	if got := SecretKeys(live, sealed); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
	if got := SecretKeys(nil, object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: v}}")); got != nil {
		t.Errorf("a ConfigMap has %v", got)
	}
}

func TestAPointerOfGitLFSIsNamedAsSuch(t *testing.T) {
	docs, err := Decode([]byte("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n"))
	if err != nil || len(docs) != 1 {
		t.Fatalf("got %v, %v", docs, err)
	}
	if _, err := Flatten(docs[0]); err == nil || !strings.Contains(err.Error(), "Git LFS pointer") {
		t.Errorf("got %v", err)
	}
}
