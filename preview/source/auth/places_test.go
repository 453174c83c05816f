package auth

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// The credentials of a reference are named, and no other reference's.
func TestWhereCredentialsAreIsNamed(t *testing.T) {
	home := t.TempDir()
	for name, text := range map[string]string{
		".netrc":              "machine files.example.com login me password secret\n",
		"config.json":         `{"auths": {"registry.example.com": {"username": "me", "password": "secret"}}}`,
		"helped/config.json":  `{"credHelpers": {"registry.example.com": "none"}}`,
		"another/config.json": `{"auths": {"other.example.com": {"username": "me", "password": "secret"}}}`,
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name, reference, registryConfig string
		env                             map[string]string
		want                            string
	}{
		{name: "none", reference: "https://example.com/a.tgz", want: `{"Variables":null,"Files":{},"Registry":"","Helped":null}`},
		{name: "the token of a host", reference: "https://example.com/a.tgz", env: map[string]string{"KUBECTL_OPERATOR_TOKEN_EXAMPLE_COM": "x", "GITHUB_TOKEN": "y", "AWS_ACCESS_KEY_ID": "z"}, want: `{"Variables":["KUBECTL_OPERATOR_TOKEN_EXAMPLE_COM"],"Files":{},"Registry":"","Helped":null}`},
		{name: "the token of a forge", reference: "git+https://github.com/org/repo", env: map[string]string{"GITHUB_TOKEN": "y"}, want: `{"Variables":["GITHUB_TOKEN"],"Files":{},"Registry":"","Helped":null}`},
		{name: "an entry of netrc", reference: "https://files.example.com/a.tgz", want: `{"Variables":null,"Files":{"NETRC":"HOME/.netrc"},"Registry":"","Helped":null}`},
		{name: "a bucket of S3", reference: "s3://bucket/a.tgz", env: map[string]string{"AWS_SECRET_ACCESS_KEY": "x", "AWS_ACCESS_KEY_ID": "y"}, want: `{"Variables":["AWS_ACCESS_KEY_ID","AWS_SECRET_ACCESS_KEY"],"Files":{},"Registry":"","Helped":null}`},
		{name: "a bucket of Google", reference: "gs://bucket/a.tgz", env: map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": "/key.json"}, want: `{"Variables":null,"Files":{"GOOGLE_APPLICATION_CREDENTIALS":"/key.json"},"Registry":"","Helped":null}`},
		{name: "a registry", reference: "oci://registry.example.com/a:1", registryConfig: "config.json", want: `{"Variables":null,"Files":{},"Registry":"HOME/config.json","Helped":null}`},
		{name: "a registry that the file has nothing for", reference: "oci://third.example.com/a:1", registryConfig: "config.json", want: `{"Variables":null,"Files":{},"Registry":"","Helped":null}`},
		{name: "a registry with a helper", reference: "oci://registry.example.com/a:1", registryConfig: "helped/config.json", want: `{"Variables":null,"Files":{},"Registry":"HOME/helped/config.json","Helped":["registry.example.com"]}`},
		{name: "a registry by a variable", reference: "oci://other.example.com/a:1", env: map[string]string{"DOCKER_AUTH_CONFIG": `{"auths": {"other.example.com": {"username": "me", "password": "secret"}}}`}, want: `{"Variables":["DOCKER_AUTH_CONFIG"],"Files":{},"Registry":"","Helped":null}`},
		{name: "a registry by Docker's directory", reference: "oci://other.example.com/a:1", env: map[string]string{"DOCKER_CONFIG": home + "/another"}, want: `{"Variables":null,"Files":{},"Registry":"HOME/another/config.json","Helped":null}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("HOME", home)
			for _, name := range append([]string{"NETRC", "DOCKER_AUTH_CONFIG", "DOCKER_CONFIG", "REGISTRY_AUTH_FILE", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "GITHUB_TOKEN", "GH_TOKEN", googleFile}, s3Variables...) {
				t.Setenv(name, test.env[name])
			}
			for name, value := range test.env {
				t.Setenv(name, value)
			}
			r, err := ref.Parse(test.reference)
			if err != nil {
				t.Fatal(err)
			}
			config := test.registryConfig
			if config != "" {
				config = filepath.Join(home, config)
			}
			got, err := PlacesOf([]ref.Reference{r, r}, config)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := json.Marshal(got)
			var want Places
			if err := json.Unmarshal([]byte(test.want), &want); err != nil {
				t.Fatal(err)
			}
			for name, path := range want.Files {
				want.Files[name] = inHome(path, home)
			}
			want.Registry = inHome(want.Registry, home)
			if wanted, _ := json.Marshal(want); string(text) != string(wanted) {
				t.Errorf("got  %s\nwant %s", text, wanted)
			}
		})
	}
}

// inHome returns a path with HOME for a directory.
func inHome(path, home string) string {
	if len(path) > 4 && path[:4] == "HOME" {
		return home + path[4:]
	}
	return path
}
