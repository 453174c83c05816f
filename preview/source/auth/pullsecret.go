package auth

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// pullSecrets is a keychain of Kubernetes pull secrets. It matches registries as the
// kubelet does (pkg/credentialprovider): an entry names a host, which may have "*"
// within a part, and perhaps a path that the repository must begin with. Credential
// helpers that a Secret names are never run.
type pullSecrets []pullEntry // the most specific first

type pullEntry struct {
	host, path string
	auth       authn.AuthConfig
}

// dockerEntry is the entry for one registry in a Docker config file.
type dockerEntry struct {
	Username      string `json:"username"`
	Password      string `json:"password"`
	Auth          string `json:"auth"` // base64 of USERNAME:PASSWORD
	IdentityToken string `json:"identitytoken"`
	RegistryToken string `json:"registrytoken"`
}

// ReadPullSecrets reads pull secrets, given as NAMESPACE/NAME, with the user's rights.
func ReadPullSecrets(ctx context.Context, cluster Getter, names []string) (authn.Keychain, error) {
	if cluster == nil {
		return nil, fmt.Errorf("pull secret %s: no cluster may be asked for it; leave out --offline", names[0])
	}
	var all pullSecrets
	for _, text := range names {
		namespace, secret, ok := strings.Cut(text, "/")
		if !ok || namespace == "" || secret == "" || strings.Contains(secret, "/") {
			return nil, fmt.Errorf("pull secret %s: want NAMESPACE/NAME", bounded.Quote(text))
		}
		body, err := cluster.Get(ctx, preview.Ref{APIVersion: "v1", Kind: "Secret", Namespace: namespace, Name: secret})
		switch {
		case err != nil:
			return nil, fmt.Errorf("reading pull secret %s: %w", text, err)
		case body == nil:
			return nil, fmt.Errorf("pull secret %s does not exist", text)
		}
		entries, err := parsePullSecret(body)
		if err != nil {
			return nil, fmt.Errorf("pull secret %s: %w", text, err)
		}
		all = append(all, entries...)
	}
	slices.SortStableFunc(all, func(a, b pullEntry) int {
		return strings.Compare(b.host+"/"+b.path, a.host+"/"+a.path)
	})
	return all, nil
}

// parsePullSecret returns the entries of a pull secret of either type. Errors never
// quote them.
func parsePullSecret(body map[string]any) (pullSecrets, error) {
	var key string
	switch kind := preview.String(body, "type"); kind {
	case "kubernetes.io/dockerconfigjson":
		key = ".dockerconfigjson"
	case "kubernetes.io/dockercfg":
		key = ".dockercfg"
	default:
		return nil, fmt.Errorf("it is of type %s; want kubernetes.io/dockerconfigjson", bounded.Quote(kind))
	}
	data, err := base64.StdEncoding.DecodeString(preview.String(body, "data", key))
	if err != nil || len(data) == 0 || len(data) > bounded.MiB {
		return nil, fmt.Errorf("it has no usable %s", key)
	}
	auths := map[string]dockerEntry{}
	if key == ".dockercfg" {
		err = json.Unmarshal(data, &auths)
	} else {
		var file struct {
			Auths map[string]dockerEntry `json:"auths"`
		}
		err = json.Unmarshal(data, &file)
		auths = file.Auths
	}
	if err != nil {
		return nil, fmt.Errorf("its %s is not a Docker config file", key)
	}
	var out pullSecrets
	for registry, entry := range auths {
		auth, err := entry.config()
		if err != nil {
			return nil, err
		}
		host, below := registryKey(registry)
		out = append(out, pullEntry{host: host, path: below, auth: auth})
	}
	return out, nil
}

func (e dockerEntry) config() (authn.AuthConfig, error) {
	c := authn.AuthConfig{
		Username: e.Username, Password: e.Password, IdentityToken: e.IdentityToken, RegistryToken: e.RegistryToken,
	}
	if e.Auth == "" {
		return c, nil
	}
	decoded, err := base64.StdEncoding.DecodeString(e.Auth)
	if err != nil {
		decoded, err = base64.RawStdEncoding.DecodeString(e.Auth)
	}
	user, password, ok := strings.Cut(string(decoded), ":")
	if err != nil || !ok {
		return c, errors.New("an entry has an auth that is not the base64 of USER:PASSWORD")
	}
	c.Username, c.Password = user, strings.TrimRight(password, "\x00")
	return c, nil
}

// registryKey splits the key of an entry into host and path. The key may be a URL, and
// may end in /v1 or /v2, the version of the registry's API.
func registryKey(key string) (host, below string) {
	for _, scheme := range []string{"https://", "http://"} {
		key = strings.TrimPrefix(key, scheme)
	}
	host, below, _ = strings.Cut(key, "/")
	below = strings.Trim(below, "/")
	if below == "v1" || below == "v2" {
		below = ""
	}
	if host == "docker.io" {
		host = name.DefaultRegistry
	}
	return strings.ToLower(host), below
}

// Resolve implements [authn.Keychain].
func (s pullSecrets) Resolve(target authn.Resource) (authn.Authenticator, error) {
	host := strings.ToLower(target.RegistryStr())
	_, repo, _ := strings.Cut(target.String(), "/")
	for _, e := range s {
		if hostMatches(e.host, host) && (e.path == "" || repo == e.path || strings.HasPrefix(repo, e.path+"/")) {
			return authn.FromConfig(e.auth), nil
		}
	}
	return authn.Anonymous, nil
}

// hostMatches reports whether a host matches a pattern, part by part: "*" matches no
// dot, and the port must be equal or absent in both.
func hostMatches(pattern, host string) bool {
	if pattern == host {
		return true // an address of IPv6 has no parts
	}
	pattern, patternPort, _ := strings.Cut(pattern, ":")
	host, port, _ := strings.Cut(host, ":")
	want, have := strings.Split(pattern, "."), strings.Split(host, ".")
	if patternPort != port || len(want) != len(have) {
		return false
	}
	for i := range want {
		if ok, err := path.Match(want[i], have[i]); err != nil || !ok {
			return false
		}
	}
	return true
}
