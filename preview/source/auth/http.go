package auth

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// Scheme selects the Authorization header for a token from the environment.
// Names and passwords are always sent as Basic.
type Scheme int

// How a token is sent.
const (
	Bearer Scheme = iota
	// Git sends a token as the password of Basic, which is what git servers
	// take. GitHub, GitLab and Gitea ignore the name beside a token.
	Git
)

const gitTokenUser = "x-access-token"

// userCredentials are those of the user for https servers. They come from a token
// for one host in the environment, TokenVariable(HOST) or a forge's own, else
// from the netrc file (NETRC, else ~/.netrc). An entry "default" of a netrc
// file is not used: it would go to any host that a reference names.
type userCredentials struct {
	env   func(string) string
	netrc []netrcEntry
	given *Credentials // in place of all others, where set
}

type netrcEntry struct{ machine, login, password string }

// forgeTokens are variables that tools set for one forge.
var forgeTokens = map[string][]string{
	"github.com": {"GH_TOKEN", "GITHUB_TOKEN"},
	"gitlab.com": {"GITLAB_TOKEN"},
}

// TokenVariable is the environment variable that holds the token for a host:
// KUBECTL_OPERATOR_TOKEN_ and the name in capitals, "." as "_", "-" as "__".
func TokenVariable(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return "KUBECTL_OPERATOR_TOKEN_" + strings.NewReplacer(".", "_", "-", "__").Replace(strings.ToUpper(host))
}

const maxNetrc = 1 * bounded.MiB

func readUserCredentials() (userCredentials, error) {
	c := userCredentials{env: os.Getenv}
	name := os.Getenv("NETRC")
	if name == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return c, nil // no home, no netrc
		}
		name = filepath.Join(home, ".netrc")
	}
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("reading the netrc file: %w", err)
	}
	defer func() { _ = file.Close() }()
	data, err := bounded.ReadAll(file, maxNetrc)
	if err != nil {
		return c, fmt.Errorf("reading the netrc file: %w", err)
	}
	c.netrc = parseNetrc(string(data))
	return c, nil
}

// authorize sets the header of a request to host, and reports whether there
// was something to set.
func (c userCredentials) authorize(r *http.Request, host string, scheme Scheme) bool {
	if c.given.Given() {
		return c.given.authorize(r, scheme)
	}
	if token := c.token(host); token != "" {
		if scheme == Git {
			r.SetBasicAuth(gitTokenUser, token)
		} else {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		return true
	}
	for _, entry := range c.netrc {
		if strings.EqualFold(entry.machine, host) {
			r.SetBasicAuth(entry.login, entry.password)
			return true
		}
	}
	return false
}

func (c userCredentials) token(host string) string {
	for _, name := range append([]string{TokenVariable(host)}, forgeTokens[strings.ToLower(host)]...) {
		if token := strings.TrimSpace(c.env(name)); token != "" {
			return token
		}
	}
	return ""
}

// parseNetrc reads the entries of the format that curl and git share: words
// apart by white space, "#" beginning a comment, macros up to an empty line.
func parseNetrc(text string) []netrcEntry {
	var out []netrcEntry
	var into *string
	macro, unused := false, netrcEntry{}
	entry := &unused
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, maxNetrc+1)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		macro = macro && len(words) > 0
	line:
		for _, word := range words {
			switch {
			case macro, into == nil && strings.HasPrefix(word, "#"):
				break line
			case into != nil:
				*into, into = word, nil
			case word == "machine":
				out = append(out, netrcEntry{})
				entry = &out[len(out)-1]
				into = &entry.machine
			case word == "default":
				entry = &unused
			case word == "login":
				into = &entry.login
			case word == "password":
				into = &entry.password
			case word == "account":
				into = &unused.login
			case word == "macdef":
				macro = true
			}
		}
	}
	return out
}

// Sent says for which host credentials may be sent with a request
// and its redirects, and whether they were.
type Sent struct {
	Host   string // HOST or HOST:PORT of the first request
	Scheme Scheme
	Never  bool // nothing is sent, whatever the user has
	sent   bool
}

// Advice returns what the user can do about a server that gave no access.
func (s *Sent) Advice() string {
	switch {
	case s.Never:
		return "no credentials are sent there"
	case s.sent:
		return "the credentials for it do not give access"
	}
	return "give credentials for it in a netrc file or in " + TokenVariable(s.Host)
}

type sentKey struct{}

// WithSent returns a context whose requests are given the credentials that s allows.
func WithSent(ctx context.Context, s *Sent) context.Context {
	return context.WithValue(ctx, sentKey{}, s)
}

// NewTransport returns a transport that adds credentials of the user, or what was
// given in their place.
func NewTransport(inner http.RoundTripper, given *Credentials) (http.RoundTripper, error) {
	keys := userCredentials{given: given}
	if !given.Given() {
		var err error
		if keys, err = readUserCredentials(); err != nil {
			return nil, err
		}
	}
	return &authorizer{inner: inner, keys: keys}, nil
}

// authorizer adds credentials to requests to the host they are for: not after
// a redirect to another host or port, and never without TLS.
type authorizer struct {
	inner http.RoundTripper
	keys  userCredentials
}

// RoundTrip implements [http.RoundTripper].
func (a *authorizer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Del("Authorization")
	sent, ok := r.Context().Value(sentKey{}).(*Sent)
	if ok && !sent.Never && r.URL.Scheme == "https" && r.URL.Host == sent.Host {
		sent.sent = a.keys.authorize(r, r.URL.Hostname(), sent.Scheme)
	}
	return a.inner.RoundTrip(r)
}
