package source_test

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/pem"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/auth"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

// secrets answers like a cluster that holds them, by namespace and name.
type secrets map[string]map[string]any

func (s secrets) Get(_ context.Context, r preview.Ref) (map[string]any, error) {
	return s[r.Namespace+"/"+r.Name], nil
}

// secret makes a Secret of a type from keys and values.
func secret(kind string, pairs ...string) map[string]any {
	data := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		data[pairs[i]] = base64.StdEncoding.EncodeToString([]byte(pairs[i+1]))
	}
	return map[string]any{"apiVersion": "v1", "kind": "Secret", "type": kind, "data": data}
}

// getWith is get with the credentials of a Secret.
func getWith(t *testing.T, o source.Options, body map[string]any, text string) (source.Pin, error) {
	t.Helper()
	reference, err := ref.Parse(text)
	must(t, err)
	given, err := auth.ReadCredentials(t.Context(), secrets{"ns/s": body}, "ns/s", reference)
	if err != nil {
		return source.Pin{}, err
	}
	f := source.New(o).With(given)
	pin, err := f.Pin(t.Context(), reference)
	if err != nil {
		return pin, err
	}
	_, err = f.Open(t.Context(), pin)
	return pin, err
}

func TestCredentialsOfARequestReachTheHostOfItsReference(t *testing.T) {
	noNetrc(t)
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	registry := sourcetest.TLS(t, sourcetest.Basic("me", "hunter2"))
	login := registry.Options(t)
	login.RegistryConfig = configFile(t, registry.Host, "me:hunter2")
	_, err := source.PushDir(t.Context(), registry.Host+"/a/b:v1", bundleDir(), nil, login)
	must(t, err)
	image := registry.Host + "/a/b:v1"
	for _, test := range []struct {
		name, want string
		secret     map[string]any
	}{
		{"a name and a password", "", secret("kubernetes.io/basic-auth", "username", "me", "password", "hunter2")},
		{"a pull secret", "", secret("kubernetes.io/dockerconfigjson", ".dockerconfigjson", `{"auths":{"`+registry.Host+`":{"username":"me","password":"hunter2"}}}`)},
		{"a pull secret for another host", "refuses access", secret("kubernetes.io/dockerconfigjson", ".dockerconfigjson", `{"auths":{"example.com":{"username":"me","password":"hunter2"}}}`)},
		{"a wrong password", "refuses access", secret("Opaque", "username", "me", "password", "x")},
		{"the token of a ServiceAccount", "holds no credentials for sources", secret("kubernetes.io/service-account-token", "token", "t")},
		{"nothing of use", "has none of the keys", secret("Opaque", "user", "me")},
		{"no Secret", "does not exist", nil},
	} {
		t.Run("image: "+test.name, func(t *testing.T) {
			_, err := getWith(t, registry.Options(t), test.secret, image)
			if test.want == "" {
				must(t, err)
				return
			}
			mustFail(t, err, test.want)
			if strings.Contains(err.Error(), "hunter2") {
				t.Error("the error holds the password")
			}
		})
	}
}

func TestTheUsersOwnCredentialsStayHomeWhereARequestBringsSome(t *testing.T) {
	data := archives(t)["x.tgz"]
	var seen []string
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization"))
		_, _ = w.Write(data)
	})
	netrc(t, "machine 127.0.0.1 login alice password s3cret")
	t.Setenv(hostToken, "t0ken")
	_, err := getWith(t, server.options(t), secret("Opaque", "bearerToken", "theirs"), "https://"+server.host+"/x.tgz")
	must(t, err)
	if len(seen) != 1 || seen[0] != "Bearer theirs" {
		t.Errorf("sent %q", seen)
	}
}

func TestCredentialsOfARequestDoNotFollowARedirect(t *testing.T) {
	noNetrc(t)
	data := archives(t)["x.tgz"]
	var seen []string
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization"))
		_, _ = w.Write(data)
	})
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://"+other.host+r.URL.Path, http.StatusFound)
	})
	o := server.options(t)
	o.CAFile = bothRoots(t, server, other)
	_, err := getWith(t, o, secret("Opaque", "username", "me", "password", "hunter2"), "https://"+server.host+"/x.tgz")
	must(t, err)
	if len(seen) != 1 || seen[0] != "" {
		t.Errorf("the other host was sent %q", seen)
	}
}

func TestARootInASecretIsTrustedForItsSourceAlone(t *testing.T) {
	noNetrc(t)
	data := archives(t)["x.tgz"]
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) })
	root, err := os.ReadFile(server.caFile)
	must(t, err)
	o := source.Options{CacheDir: t.TempDir(), RequestTimeout: 5 * time.Second}
	text := "https://" + server.host + "/x.tgz"
	_, err = getWith(t, o, secret("Opaque", "ca.crt", string(root)), text)
	must(t, err)
	_, _, err = get(t.Context(), source.Options{CacheDir: t.TempDir(), RequestTimeout: 5 * time.Second}, text)
	mustFail(t, err, "is not trusted")
}

func TestAKeyInASecretOpensGitOverSSHWithoutAnAgent(t *testing.T) {
	repo := newRepository(t)
	commit := repo.commit(bundleFiles())
	mine, signer := newKey(t)
	server := serveSSH(t, filepath.Dir(filepath.Dir(repo.dir)), signer.PublicKey())
	t.Setenv("SSH_AUTH_SOCK", "")
	t.Setenv("SSH_KNOWN_HOSTS", filepath.Join(t.TempDir(), "none"))
	text := "git+ssh://git@" + server.address + "/org/repo//b"
	key, hosts := privateKey(t, mine), knownhosts.Line([]string{server.address}, server.key)
	stranger, other := newKey(t)
	for _, test := range []struct {
		name, want string
		secret     map[string]any
	}{
		{"as rukpak names the keys", "", secret("kubernetes.io/ssh-auth", "ssh-privatekey", key, "ssh-knownhosts", hosts)},
		{"as Flux names the keys", "", secret("Opaque", "identity", key, "known_hosts", hosts)},
		{"a server with another key", "another key than known_hosts", secret("Opaque", "identity", key, "known_hosts", knownhosts.Line([]string{server.address}, other.PublicKey()))},
		{"without known hosts", "there is no known_hosts file", secret("Opaque", "identity", key)},
		{"a key that the server does not know", "takes none of the keys", secret("Opaque", "identity", privateKey(t, stranger), "known_hosts", hosts)},
		{"a key that is none", "ssh key cannot be read", secret("Opaque", "identity", "x", "known_hosts", hosts)},
	} {
		t.Run(test.name, func(t *testing.T) {
			pin, err := getWith(t, source.Options{CacheDir: t.TempDir(), RequestTimeout: 5 * time.Second}, test.secret, text)
			if test.want != "" {
				mustFail(t, err, test.want)
				return
			}
			must(t, err)
			if pin.Source.Reference != text+"?ref="+commit {
				t.Errorf("got %+v", pin.Source)
			}
		})
	}
}

func privateKey(t *testing.T, key ed25519.PrivateKey) string {
	t.Helper()
	block, err := ssh.MarshalPrivateKey(key, "")
	must(t, err)
	return string(pem.EncodeToMemory(block))
}

func TestACredentialIsNotReadWithoutACluster(t *testing.T) {
	reference, err := ref.Parse("https://example.com/x.tgz")
	must(t, err)
	_, err = auth.ReadCredentials(t.Context(), nil, "ns/s", reference)
	mustFail(t, err, "no cluster may be asked for it; leave out --offline")
}
