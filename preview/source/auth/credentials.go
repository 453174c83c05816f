// Package auth finds the credentials that sources are read with: credentials of one
// reference, from a Secret or a login of the user's config ([Credentials]), pull secrets
// of the cluster ([ReadPullSecrets]), the user's Docker and Podman files with their
// credential helpers ([NewUserKeychain]), and tokens and netrc entries for https servers
// ([NewTransport]).
//
// Credentials for a host are sent to that host only, not after a redirect either. Errors
// and messages never hold credentials, nor the text of a file or the output of a program
// that has some.
package auth

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"golang.org/x/crypto/ssh"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// Credentials are those that a request names for one source. They are sent to the host
// of the source's reference and nowhere else, and replace the user's own credentials
// there. Errors and messages never contain them.
type Credentials struct {
	secret string // NAMESPACE/NAME, for messages
	host   string // HOST or HOST:PORT, as in the reference

	username, password string
	token              string
	pulls              pullSecrets
	key                ssh.Signer
	knownHosts         []byte
	roots              []byte // PEM

	google               []byte // key of a service account, JSON
	accessKey, secretKey string // of S3
}

// secretTypes returns the types of Secrets that credentials are read from. Others are
// refused, so that a request file cannot send, say, the token of a ServiceAccount to a
// server of its choice.
func secretTypes() []string {
	return []string{
		"", "Opaque", "kubernetes.io/basic-auth", "kubernetes.io/ssh-auth", "kubernetes.io/dockerconfigjson",
		"kubernetes.io/dockercfg", "kubernetes.io/tls",
	}
}

// ReadCredentials reads a Secret, given as NAMESPACE/NAME, with the user's rights, as
// credentials for one reference. It knows the keys of Kubernetes' types of Secrets
// (username, password, ssh-privatekey, .dockerconfigjson), of rukpak (ssh-knownhosts)
// and of Flux (identity, known_hosts, bearerToken, ca.crt).
func ReadCredentials(ctx context.Context, cluster Getter, secret string, r ref.Reference) (*Credentials, error) {
	if cluster == nil {
		return nil, fmt.Errorf("Secret %s holds the credentials for %s, and no cluster may be asked for it; leave out --offline", secret, hostOf(r))
	}
	namespace, object, _ := strings.Cut(secret, "/")
	body, err := cluster.Get(ctx, preview.Ref{APIVersion: "v1", Kind: "Secret", Namespace: namespace, Name: object})
	switch {
	case preview.ReasonOf(err) == preview.ReasonForbidden:
		return nil, fmt.Errorf("you may not read Secret %s, which holds the credentials for %s", secret, hostOf(r))
	case err != nil:
		return nil, fmt.Errorf("reading Secret %s: %w", secret, err)
	case body == nil:
		return nil, fmt.Errorf("Secret %s, which holds the credentials for %s, does not exist", secret, hostOf(r))
	}
	c := &Credentials{secret: secret, host: hostOf(r)}
	if err := c.read(body, r); err != nil {
		return nil, fmt.Errorf("Secret %s: %w", secret, err)
	}
	return c, nil
}

// WithRoots returns a copy of the credentials that also trusts certificate authorities
// in PEM, for the host of a reference. c may be nil.
func (c *Credentials) WithRoots(pem string, r ref.Reference) *Credentials {
	var out Credentials
	if c != nil {
		out = *c
	}
	out.host, out.roots = hostOf(r), append(slices.Clone(out.roots), pem...)
	return &out
}

// hostOf returns HOST or HOST:PORT of a reference.
func hostOf(r ref.Reference) string {
	if r.Kind == ref.KindImage {
		host, _, _ := strings.Cut(r.Image, "/")
		if host == "docker.io" {
			host = name.DefaultRegistry
		}
		return host
	}
	u, err := url.Parse(r.URL)
	if err != nil {
		return ""
	}
	return u.Host
}

// read takes from a Secret the keys that sources of the reference's kind can use. A
// Secret without any of them is an error.
func (c *Credentials) read(body map[string]any, r ref.Reference) error {
	kind := preview.String(body, "type")
	if !slices.Contains(secretTypes(), kind) {
		return fmt.Errorf("it is of type %s, which holds no credentials for sources", bounded.Quote(kind))
	}
	data, err := secretData(body)
	if err != nil {
		return err
	}
	c.roots = []byte(first(data, "ca.crt", "caFile"))
	found := len(c.roots) > 0
	overSSH := r.Kind == ref.KindGit && strings.HasPrefix(r.URL, "ssh://")
	switch {
	case r.Kind == ref.KindImage && strings.HasPrefix(kind, "kubernetes.io/dockerc"):
		c.pulls, err = parsePullSecret(body)
		found = true
	case overSSH:
		found, err = c.readKey(data)
	case r.Kind.Credentials() == ref.CredentialsLogin:
		c.username, c.password, c.token = data["username"], data["password"], strings.TrimSpace(data["bearerToken"])
		if strings.ContainsAny(c.token, "\r\n") {
			return errors.New("its bearerToken holds a line break")
		}
		found = found || c.username+c.password+c.token != ""
	default:
		return fmt.Errorf("a %s takes no credentials from a Secret", r.Kind)
	}
	if err == nil && !found {
		err = errors.New("it has none of the keys that are read: username and password, bearerToken, ssh-privatekey, .dockerconfigjson, ca.crt")
	}
	return err
}

func (c *Credentials) readKey(data map[string]string) (bool, error) {
	pem := first(data, "ssh-privatekey", "identity")
	if pem == "" {
		return false, nil
	}
	var err error
	if phrase := data["password"]; phrase != "" {
		c.key, err = ssh.ParsePrivateKeyWithPassphrase([]byte(pem), []byte(phrase))
	} else {
		c.key, err = ssh.ParsePrivateKey([]byte(pem))
	}
	if err != nil {
		return false, errors.New("its ssh key cannot be read, or its passphrase is not in the key password")
	}
	c.knownHosts = []byte(first(data, "ssh-knownhosts", "known_hosts"))
	return true, nil
}

// secretData decodes a Secret.
func secretData(body map[string]any) (map[string]string, error) {
	out, size := map[string]string{}, 0
	for key, v := range preview.Map(body, "data") {
		text, _ := v.(string)
		decoded, err := base64.StdEncoding.DecodeString(text)
		if size += len(decoded); err != nil || size > bounded.MiB {
			return nil, fmt.Errorf("its key %s is not base64, or it has more than 1 MiB", bounded.Quote(key))
		}
		out[key] = string(decoded)
	}
	return out, nil
}

func first(data map[string]string, keys ...string) string {
	for _, key := range keys {
		if data[key] != "" {
			return data[key]
		}
	}
	return ""
}

// Given reports whether there are credentials of a Secret or config, and not only
// certificate authorities.
func (c *Credentials) Given() bool { return c != nil && c.secret != "" }

// GoogleKey returns the key of a Google service account as JSON, or nil.
func (c *Credentials) GoogleKey() []byte {
	if c == nil {
		return nil
	}
	return c.google
}

// HasS3Key reports whether there are S3 keys, which Retrieve then returns.
func (c *Credentials) HasS3Key() bool { return c != nil && c.accessKey != "" }

// SSHKey returns the private key and the known_hosts lines for ssh; nil if there are
// none.
func (c *Credentials) SSHKey() (key ssh.Signer, knownHosts []byte) {
	if c == nil {
		return nil, nil
	}
	return c.key, c.knownHosts
}

// RootsPEM returns the certificate authorities in PEM that are trusted in addition to
// the system's; nil if there are none.
func (c *Credentials) RootsPEM() []byte {
	if c == nil {
		return nil
	}
	return c.roots
}

// Resolve implements [authn.Keychain].
func (c *Credentials) Resolve(target authn.Resource) (authn.Authenticator, error) {
	switch {
	case c.pulls != nil:
		return c.pulls.Resolve(target)
	case !strings.EqualFold(target.RegistryStr(), c.host):
		return authn.Anonymous, nil
	case c.token != "":
		return authn.FromConfig(authn.AuthConfig{RegistryToken: c.token}), nil
	case c.username+c.password == "":
		return authn.Anonymous, nil
	}
	return authn.FromConfig(authn.AuthConfig{Username: c.username, Password: c.password}), nil
}

// authorize adds the credentials to a request, which must be to the host of their
// reference, and reports whether there were any.
func (c *Credentials) authorize(r *http.Request, scheme Scheme) bool {
	switch {
	case !strings.EqualFold(r.URL.Host, c.host):
		return false
	case c.token != "":
		r.Header.Set("Authorization", "Bearer "+c.token)
	case c.username+c.password != "":
		user := c.username
		if user == "" && scheme == Git {
			user = gitTokenUser
		}
		r.SetBasicAuth(user, c.password)
	default:
		return false
	}
	return true
}

// Getter gets objects of the target cluster with the user's own rights.
type Getter interface {
	// Get returns nil and no error for an object that does not exist.
	Get(ctx context.Context, ref preview.Ref) (map[string]any, error)
}
