package auth

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func secretOf(kind, key, text string) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": kind,
		"data": map[string]any{key: base64.StdEncoding.EncodeToString([]byte(text))},
	}
}

func dockerConfig(text string) map[string]any {
	return secretOf("kubernetes.io/dockerconfigjson", ".dockerconfigjson", text)
}

// objects answers like a cluster that holds them, by namespace and name.
type objects map[string]map[string]any

func (o objects) Get(_ context.Context, r preview.Ref) (map[string]any, error) {
	if r.APIVersion != "v1" || r.Kind != "Secret" {
		return nil, fmt.Errorf("unexpected %+v", r)
	}
	if r.Name == "forbidden" {
		return nil, errors.New("secrets \"forbidden\" is forbidden")
	}
	return o[r.Namespace+"/"+r.Name], nil
}

func TestPullSecretsMatchRegistriesAsTheKubeletDoes(t *testing.T) {
	auth := base64.StdEncoding.EncodeToString([]byte("coded:hunter2"))
	cluster := objects{
		"a/one": dockerConfig(`{"auths": {
			"https://registry.example.com/v1/": {"username": "whole", "password": "x"},
			"registry.example.com/team": {"username": "team", "password": "x"},
			"*.wild.example.com": {"auth": "` + auth + `"},
			"port.example.com:5000": {"username": "port", "password": "x"},
			"[2001:db8::1]:5000": {"username": "six", "password": "x"},
			"https://index.docker.io/v1/": {"username": "hub", "password": "x"}
		}, "credsStore": "evil", "credHelpers": {"helped.example.com": "evil"}}`),
		"b/two": secretOf("kubernetes.io/dockercfg", ".dockercfg", `{"old.example.com": {"username": "old", "password": "x", "email": "e"}}`),
	}
	keys, err := ReadPullSecrets(t.Context(), cluster, []string{"a/one", "b/two"})
	if err != nil {
		t.Fatal(err)
	}
	for repo, want := range map[string]string{
		"registry.example.com/x":         "whole",
		"registry.example.com/team":      "team",
		"registry.example.com/team/x":    "team",
		"registry.example.com/teams":     "whole",
		"registry.example.com:5000/x":    "",
		"a.wild.example.com/x":           "coded",
		"a.b.wild.example.com/x":         "",
		"wild.example.com/x":             "",
		"port.example.com:5000/x":        "port",
		"port.example.com/x":             "",
		"docker.io/library/x":            "hub",
		"old.example.com/x":              "old",
		"[2001:db8::1]:5000/x":           "six",
		"helped.example.com/x":           "",
		"registry.example.com.evil.io/x": "",
	} {
		parsed, err := name.NewRepository(repo)
		if err != nil {
			t.Fatal(err)
		}
		found, err := keys.Resolve(parsed)
		if err != nil {
			t.Fatal(err)
		}
		config, err := authn.Authorization(t.Context(), found)
		if err != nil {
			t.Fatal(err)
		}
		if config.Username != want {
			t.Errorf("%s: user %q, want %q", repo, config.Username, want)
		}
		if want == "coded" && config.Password != "hunter2" {
			t.Error("the coded password was not read")
		}
	}
}

func TestPullSecretsThatCannotBeReadSayWhy(t *testing.T) {
	cluster := objects{
		"a/opaque":  secretOf("Opaque", "x", "y"),
		"a/empty":   {"type": "kubernetes.io/dockerconfigjson"},
		"a/text":    dockerConfig("hunter2"),
		"a/auth":    dockerConfig(`{"auths":{"x.example.com":{"auth":"hunter2"}}}`),
		"a/nocolon": dockerConfig(`{"auths":{"x.example.com":{"auth":"` + base64.StdEncoding.EncodeToString([]byte("hunter2")) + `"}}}`),
		"a/large":   dockerConfig(`{"auths":{},"x":"` + strings.Repeat("x", 2<<20) + `"}`),
	}
	for name, want := range map[string]string{
		"opaque":      "want NAMESPACE/NAME",
		"a/b/c":       "want NAMESPACE/NAME",
		"a/missing":   "does not exist",
		"a/opaque":    `of type "Opaque"`,
		"a/empty":     "no usable .dockerconfigjson",
		"a/text":      "not a Docker config file",
		"a/auth":      "not the base64",
		"a/nocolon":   "not the base64",
		"a/large":     "no usable .dockerconfigjson",
		"a/forbidden": "forbidden",
	} {
		_, err := ReadPullSecrets(t.Context(), cluster, []string{name})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, want)
			continue
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the secret is in %q", name, err)
		}
	}
	if _, err := ReadPullSecrets(t.Context(), nil, []string{"a/b"}); err == nil || !strings.Contains(err.Error(), "no cluster may be asked") {
		t.Errorf("without a cluster: %v", err)
	}
}

// FuzzPullSecret: whatever a Secret holds, entries come out or one sentence.
func FuzzPullSecret(f *testing.F) {
	f.Add(`{"auths":{"https://x.example.com/v1/":{"auth":"bWU6aHVudGVyMg=="}}}`, "x.example.com/repo")
	f.Add(`{"auths":{"[*.?":{"username":"u"}}}`, "x.example.com/repo")
	f.Fuzz(func(t *testing.T, text, repo string) {
		entries, err := parsePullSecret(dockerConfig(text))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q", err)
			}
			return
		}
		parsed, err := name.NewRepository(repo)
		if err != nil {
			return
		}
		if _, err := entries.Resolve(parsed); err != nil {
			t.Error(err)
		}
	})
}
