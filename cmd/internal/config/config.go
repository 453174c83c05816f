// Package config reads the user's configuration file, config.yaml: catalogs,
// mirrors, whose signatures are required, keys of records, and programs for formats and
// sources. Commands change only the list of catalogs in it.
package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/program"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// Config is the user's configuration. Paths in it are absolute once loaded;
// in the file they may be relative to its directory.
type Config struct {
	// Catalogs are searched when the command line names none.
	Catalogs []Catalog `json:"catalogs"`
	// Mirrors are files of mirror rules, ImageDigestMirrorSets, asked in this order.
	Mirrors      []string     `json:"mirrors"`
	Verification Verification `json:"verification"`
	Cache        Cache        `json:"cache"`
	// Formats are programs that render what no built-in format recognises.
	Formats []Format `json:"formats"`
	// Sources are programs that fetch content; a reference source+NAME names one.
	Sources []Source `json:"sources"`
	Records Records  `json:"records"`
	// Policy is the file that findings are judged by where --policy names none.
	Policy string `json:"policy"`
}

// Format is an external program for a package format. It runs only if its file
// has the configured digest.
type Format struct {
	Name   string   `json:"name"`   // as in kubectl-operator-format-NAME
	SHA256 string   `json:"sha256"` // of the program's bytes, hexadecimal
	Path   string   `json:"path"`   // of the program; empty means the PATH
	Files  []string `json:"files"`  // patterns (path.Match); content of this format has a match of one
}

// Source is an external program that fetches content. It runs only if its file has the
// configured digest.
type Source struct {
	Name   string `json:"name"`   // as in kubectl-operator-source-NAME
	SHA256 string `json:"sha256"` // of the program's bytes, hexadecimal
	Path   string `json:"path"`   // of the program; empty means the PATH
}

// Catalog is a catalog with a name for --catalog.
type Catalog struct {
	Name      string `json:"name"`
	Reference string `json:"reference"`
	// Priority decides between catalogs that have the same package; the higher
	// wins.
	Priority int `json:"priority"`
}

// Verification configures whose signatures content must have.
type Verification struct {
	// Policies hold for repositories; of several the longest prefix decides.
	Policies []Policy `json:"policies"`
}

// Policy is a signature policy: the signature that is required of the
// repositories whose names begin with a prefix.
type Policy struct {
	Prefix      string `json:"prefix"`      // HOST[/PATH], whole parts; empty means every repository
	Mode        string `json:"mode"`        // required, if-present or off
	Key         string `json:"key"`         // file of a public key, PEM
	Identity    string `json:"identity"`    // subject of a certificate
	Issuer      string `json:"issuer"`      // OIDC issuer that vouched for the identity
	TrustedRoot string `json:"trustedRoot"` // file of roots, certificate authorities and logs
}

// Records configures the keys that sign and verify the records of releases.
type Records struct {
	Key     string   `json:"key"`     // file of the private key that signs what is applied
	Trusted []string `json:"trusted"` // files of public keys, PEM
	// Approvers is the file of approvers, for verifying the signed approvals on record.
	Approvers string `json:"approvers"`
}

// Cache limits the size of the cache on disk.
type Cache struct {
	MaxBytes int64 `json:"maxBytes"` // 0 means the default
}

// Load reads the configuration file that KUBECTL_OPERATOR_CONFIG names, else
// ${XDG_CONFIG_HOME:-~/.config}/kubectl-operator/config.yaml, which may be
// missing. Unknown fields are errors, so that a misspelt policy is not ignored.
func Load(getenv func(string) string) (Config, error) {
	path, named := getenv("KUBECTL_OPERATOR_CONFIG"), true
	if path == "" {
		if path, named = defaultPath(getenv), false; path == "" {
			return Config{}, nil
		}
	}
	data, err := read(path)
	switch {
	case err == nil:
	case !named && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)):
		return Config{}, nil
	case errors.Is(err, fs.ErrPermission): // what it would forbid cannot be known
		return Config{}, fmt.Errorf("reading the configuration: %w; set HOME or XDG_CONFIG_HOME to a directory of this user, or KUBECTL_OPERATOR_CONFIG to the file", err)
	default:
		return Config{}, fmt.Errorf("reading the configuration: %w", err)
	}
	c, err := Parse(data)
	if err != nil {
		return Config{}, fmt.Errorf("reading the configuration %s: %w", path, err)
	}
	if path, err = filepath.Abs(path); err != nil {
		return Config{}, fmt.Errorf("reading the configuration: %w", err)
	}
	c.anchor(filepath.Dir(path))
	return c, nil
}

func defaultPath(getenv func(string) string) string {
	base := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(base) { // the XDG specification says to ignore relative ones
		home := getenv("HOME")
		if home == "" {
			return ""
		}
		base = filepath.Join(home, ".config")
	}
	return filepath.Join(base, "kubectl-operator", "config.yaml")
}

func read(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	// One more than Decode takes, for it to say so.
	return io.ReadAll(io.LimitReader(file, preview.MaxDocumentBytes+1))
}

// Parse reads and checks a configuration. Relative paths in it stay relative.
func Parse(data []byte) (Config, error) {
	var c Config
	docs, err := preview.Decode(data)
	if err != nil {
		return c, err
	}
	switch len(docs) {
	case 0:
		return c, nil
	case 1:
	default:
		return c, fmt.Errorf("%d documents; want one", len(docs))
	}
	spellOff(docs[0])
	text, err := json.Marshal(docs[0])
	if err != nil {
		return c, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		return Config{}, describe(err)
	}
	if err := c.check(); err != nil {
		return Config{}, err
	}
	return c, nil
}

// spellOff replaces the boolean false in the field mode of policies by "off",
// because YAML as Kubernetes reads it takes an unquoted off for false.
func spellOff(doc any) {
	root, _ := doc.(map[string]any)
	for _, policy := range preview.Maps(root, "verification", "policies") {
		if policy["mode"] == false {
			policy["mode"] = "off"
		}
	}
}

// describe returns an error of the JSON decoder in words that fit a YAML file.
func describe(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		if wrong.Field == "" {
			return errors.New("want a mapping at the top")
		}
		return fmt.Errorf("%s: a %s, want %s", wrong.Field, wrong.Value, wrong.Type)
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

func (c *Config) check() error {
	seen := map[string]bool{}
	for i, entry := range c.Catalogs {
		switch {
		case !ref.IsName(entry.Name):
			return fmt.Errorf("catalogs[%d].name %q: want lower-case letters, digits, \"-\" and \".\"", i, entry.Name)
		case seen[entry.Name]:
			return fmt.Errorf("catalogs[%d].name %q is there twice", i, entry.Name)
		}
		seen[entry.Name] = true
		if !isCatalogReference(entry.Reference) {
			return fmt.Errorf("catalogs[%d].reference %q: want a directory (/DIR) or an image (HOST/REPO:TAG)", i, entry.Reference)
		}
	}
	for i, policy := range c.Verification.Policies {
		if !slices.Contains([]string{"required", "if-present", "off"}, policy.Mode) {
			return fmt.Errorf("verification.policies[%d].mode %q: want required, if-present or off", i, policy.Mode)
		}
	}
	if err := c.checkFormats(); err != nil {
		return err
	}
	if err := c.checkSources(); err != nil {
		return err
	}
	if c.Cache.MaxBytes < 0 {
		return fmt.Errorf("cache.maxBytes %d: want a number of bytes", c.Cache.MaxBytes)
	}
	return nil
}

// isCatalogReference reports whether a text is a valid reference of a catalog.
func isCatalogReference(text string) bool {
	if _, ok, err := catalog.ParseServed(text); ok {
		return err == nil
	}
	r, err := ref.Parse(text)
	return err == nil && r.Kind != ref.KindPackage
}

func (c *Config) checkFormats() error {
	seen := map[string]bool{}
	for i, f := range c.Formats {
		at := fmt.Sprintf("formats[%d]", i)
		if err := checkProgram(at, f.Name, f.SHA256, seen); err != nil {
			return err
		}
		for _, pattern := range f.Files {
			if _, err := path.Match(pattern, ""); err != nil {
				return fmt.Errorf("%s.files: %q is not a pattern such as *.jsonnet", at, pattern)
			}
		}
	}
	return nil
}

func (c *Config) checkSources() error {
	seen := map[string]bool{}
	for i, s := range c.Sources {
		if err := checkProgram(fmt.Sprintf("sources[%d]", i), s.Name, s.SHA256, seen); err != nil {
			return err
		}
	}
	return nil
}

// checkProgram checks the name and digest of a configured program, and adds the name to
// those that were seen.
func checkProgram(at, name, sha256 string, seen map[string]bool) error {
	digits := strings.TrimPrefix(sha256, "sha256:")
	switch {
	case !program.IsName(name):
		return fmt.Errorf("%s.name %q: want at most 42 of a-z, 0-9 and -", at, name)
	case seen[name]:
		return fmt.Errorf("%s.name %q is there twice", at, name)
	case len(digits) != 64 || strings.Trim(digits, "0123456789abcdef") != "":
		return fmt.Errorf("%s.sha256 %q: want the 64 hexadecimal digits that sha256sum prints of the program", at, sha256)
	}
	seen[name] = true
	return nil
}

// anchor makes the relative paths of the configuration absolute, from the
// directory of its file.
func (c *Config) anchor(dir string) {
	at := func(path *string) {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(dir, *path)
		}
	}
	at(&c.Policy)
	at(&c.Records.Key)
	at(&c.Records.Approvers)
	for i := range c.Records.Trusted {
		at(&c.Records.Trusted[i])
	}
	for i := range c.Mirrors {
		at(&c.Mirrors[i])
	}
	for i := range c.Formats {
		at(&c.Formats[i].Path)
	}
	for i := range c.Sources {
		at(&c.Sources[i].Path)
	}
	for i := range c.Verification.Policies {
		at(&c.Verification.Policies[i].Key)
		at(&c.Verification.Policies[i].TrustedRoot)
	}
	for i := range c.Catalogs {
		r, err := ref.Parse(c.Catalogs[i].Reference)
		if err != nil || r.Path == "" || filepath.IsAbs(r.Path) {
			continue
		}
		// The path begins the reference, behind the scheme if there is one.
		scheme, rest := "", c.Catalogs[i].Reference
		if r.Kind == ref.KindLayout {
			scheme = string(ref.KindLayout) + ":"
			rest = strings.TrimPrefix(rest, scheme)
		}
		c.Catalogs[i].Reference = scheme + filepath.Join(dir, r.Path) + strings.TrimPrefix(rest, r.Path)
	}
}

// ReadMirrors reads the files with mirror rules that the configuration names.
func (c Config) ReadMirrors() ([]source.Mirror, error) {
	var all []source.Mirror
	for _, path := range c.Mirrors {
		data, err := read(path)
		if err != nil {
			return nil, fmt.Errorf("reading the mirror rules: %w", err)
		}
		rules, err := source.ParseMirrors(data)
		if err != nil {
			return nil, fmt.Errorf("reading the mirror rules %s: %w", path, err)
		}
		all = append(all, rules...)
	}
	return all, nil
}
