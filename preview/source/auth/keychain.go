package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"

	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// UserKeychain has the user's credentials for registries, from the config files of
// Docker and Podman. The first file that has some for a registry decides.
type UserKeychain struct {
	files  []authFile
	helper credentialHelper

	mu     sync.Mutex
	helped map[string]authn.AuthConfig // what helpers answered, by helper and registry
}

// authFile is a config file of Docker or Podman.
type authFile struct {
	place   string // for messages
	entries pullSecrets
	helpers map[string]string // by host
	store   string            // the helper for every other host
}

// dockerVariable is the environment variable that may have the text of a config file.
const dockerVariable = "DOCKER_AUTH_CONFIG"

// authFileBytes is the largest size in bytes of a config file (1 MiB).
const authFileBytes = 1 * bounded.MiB

// NewUserKeychain reads the named config file or, if registryConfig is empty,
// DOCKER_AUTH_CONFIG and the files of Docker and Podman that exist. A credential helper
// that they name is ended after patience.
func NewUserKeychain(registryConfig string, patience time.Duration) (*UserKeychain, error) {
	k := &UserKeychain{helper: credentialHelper{patience: patience}, helped: map[string]authn.AuthConfig{}}
	if registryConfig != "" {
		file, err := readAuthFile(registryConfig)
		if err != nil {
			return nil, fmt.Errorf("reading --registry-config: %w", err)
		}
		k.files = append(k.files, file)
		return k, nil
	}
	if text := os.Getenv(dockerVariable); text != "" {
		file, err := parseAuthFile(dockerVariable, []byte(text))
		if err != nil {
			return nil, fmt.Errorf("reading registry credentials: %w", err)
		}
		k.files = append(k.files, file)
	}
	for _, path := range authFilePaths(os.Getenv) {
		file, err := readAuthFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading registry credentials: %w", err)
		}
		k.files = append(k.files, file)
	}
	return k, nil
}

// authFilePaths returns where the user's config files may be: Docker's (in
// DOCKER_CONFIG, else ~/.docker), then Podman's (REGISTRY_AUTH_FILE alone if it is set,
// else the files of the session and of the user; containers-auth.json(5)).
func authFilePaths(env func(string) string) []string {
	var paths []string
	home, _ := os.UserHomeDir() // without one there are fewer files
	in := func(base string, parts ...string) {
		if base != "" {
			paths = append(paths, filepath.Join(append([]string{base}, parts...)...))
		}
	}
	if dir := env("DOCKER_CONFIG"); dir != "" {
		in(dir, "config.json")
	} else {
		in(home, ".docker", "config.json")
	}
	if file := env("REGISTRY_AUTH_FILE"); file != "" {
		return append(paths, file)
	}
	in(env("XDG_RUNTIME_DIR"), "containers", "auth.json")
	if dir := env("XDG_CONFIG_HOME"); dir != "" {
		in(dir, "containers", "auth.json")
	} else {
		in(home, ".config", "containers", "auth.json")
	}
	return paths
}

func readAuthFile(path string) (authFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return authFile{}, err
	}
	defer func() { _ = f.Close() }()
	data, err := bounded.ReadAll(f, authFileBytes)
	if err != nil {
		return authFile{}, fmt.Errorf("%s: %w", path, bounded.PathCause(err))
	}
	return parseAuthFile(path, data)
}

// parseAuthFile parses a config file. Errors never quote it.
func parseAuthFile(place string, data []byte) (authFile, error) {
	file := authFile{place: place, helpers: map[string]string{}}
	var config struct {
		Auths       map[string]dockerEntry `json:"auths"`
		CredHelpers map[string]string      `json:"credHelpers"`
		CredsStore  string                 `json:"credsStore"`
	}
	// Docker reads one value and leaves what follows.
	if err := json.NewDecoder(strings.NewReader(string(data))).Decode(&config); err != nil && !errors.Is(err, io.EOF) {
		return file, fmt.Errorf("%s is not a Docker config file", place)
	}
	for registry, entry := range config.Auths {
		auth, err := entry.config()
		if err != nil {
			return file, fmt.Errorf("%s: %w", place, err)
		}
		if auth == (authn.AuthConfig{}) {
			continue // Docker leaves such entries for what a helper keeps
		}
		host, below := registryKey(registry)
		file.entries = append(file.entries, pullEntry{host: host, path: below, auth: auth})
	}
	slices.SortFunc(file.entries, func(a, b pullEntry) int {
		return strings.Compare(b.host+"/"+b.path, a.host+"/"+a.path)
	})
	for registry, helper := range config.CredHelpers {
		host, _ := registryKey(registry)
		file.helpers[host] = helper
	}
	file.store = config.CredsStore
	return file, nil
}

// Resolve implements [authn.Keychain].
func (k *UserKeychain) Resolve(target authn.Resource) (authn.Authenticator, error) {
	return k.ResolveContext(context.Background(), target)
}

// ResolveContext implements [authn.ContextKeychain]. Within one file an entry for a
// path that the repository begins with decides, the longest first; else the credential
// helper; else the entry for the whole registry.
func (k *UserKeychain) ResolveContext(ctx context.Context, target authn.Resource) (authn.Authenticator, error) {
	host := strings.ToLower(target.RegistryStr())
	_, repo, _ := strings.Cut(target.String(), "/")
	for _, file := range k.files {
		found, path, ok := file.entry(host, repo)
		if ok && path != "" {
			return authn.FromConfig(found), nil
		}
		helper := orElse(file.helpers[host], file.store)
		if helper != "" {
			auth, err := k.ask(ctx, helper, host)
			if err != nil {
				return nil, &HelperError{host, file.place, helper, err}
			}
			if auth != (authn.AuthConfig{}) {
				return authn.FromConfig(auth), nil
			}
		}
		if ok {
			return authn.FromConfig(found), nil
		}
	}
	return authn.Anonymous, nil
}

// entry returns the most specific entry of a file for a repository, and its path; ok is
// false if there is none. A "*" in a host has no meaning here, unlike in pull secrets.
func (f authFile) entry(host, repo string) (auth authn.AuthConfig, path string, ok bool) {
	for _, e := range f.entries {
		if e.host == host && (e.path == "" || repo == e.path || strings.HasPrefix(repo, e.path+"/")) {
			return e.auth, e.path, true
		}
	}
	return auth, "", false
}

// ask returns the credentials of a helper. It is run once for each registry, because
// some helpers ask the user.
func (k *UserKeychain) ask(ctx context.Context, helper, host string) (authn.AuthConfig, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := helper + "\n" + host
	if auth, ok := k.helped[key]; ok {
		return auth, nil
	}
	server := host
	if host == name.DefaultRegistry {
		server = authn.DefaultAuthKey
	}
	auth, err := k.helper.get(ctx, helper, server)
	if err == nil {
		k.helped[key] = auth
	}
	return auth, err
}

func orElse(text, otherwise string) string {
	if text != "" {
		return text
	}
	return otherwise
}
