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

// Scheme is the form of the Authorization header for a token: Bearer, or Basic for git.
// Names and passwords are always sent as Basic.
type Scheme int

// How a token is sent.
const (
	Bearer Scheme = iota
	// Git sends the token as the password of Basic, as git servers require. GitHub, GitLab
	// and Gitea ignore the user name of a token.
	Git
)

const gitTokenUser = "x-access-token"

// userCredentials are the user's own credentials for https servers: a token for the
// host in the environment, in TokenVariable(HOST) or a variable of [forgeTokens], else
// an entry of the netrc file (NETRC, else ~/.netrc). Its entry "default" is not used,
// because it would be sent to any host that a reference names.
type userCredentials struct {
	env   func(string) string
	netrc []netrcEntry
	given *Credentials // in place of all others, where set
}

type netrcEntry struct{ machine, login, password string }

// forgeTokens are, by host, the environment variables where other tools keep a token.
var forgeTokens = map[string][]string{
	"github.com": {"GH_TOKEN", "GITHUB_TOKEN"},
	"gitlab.com": {"GITLAB_TOKEN"},
}

// TokenVariable returns the name of the environment variable with the token for a host:
// KUBECTL_OPERATOR_TOKEN_ and the host in capitals, "." as "_" and "-" as "__".
func TokenVariable(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return "KUBECTL_OPERATOR_TOKEN_" + strings.NewReplacer(".", "_", "-", "__").Replace(strings.ToUpper(host))
}

const maxNetrc = 1 * bounded.MiB

func readUserCredentials() (userCredentials, error) {
	c := userCredentials{env: os.Getenv}
	name := netrcPath()
	if name == "" {
		return c, nil
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

// netrcPath returns where the netrc file may be; empty if there is no home.
func netrcPath() string {
	if name := os.Getenv(netrcFile); name != "" {
		return name
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".netrc")
}

// authorize adds the credentials for a host to a request, and reports whether there
// were any.
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

// parseNetrc returns the entries of a netrc file, in the format that curl and git
// share: words separated by white space, comments that begin with "#", and macros up to
// an empty line.
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

// Sent says which host may get credentials with a request and its redirects, and records
// whether they were.
type Sent struct {
	Host   string // HOST or HOST:PORT of the first request
	Scheme Scheme
	Never  bool // nothing is sent, whatever the user has
	sent   bool
}

// Advice returns what the user can do if the server refused access.
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

// WithSent returns a context for requests that may send the credentials which s allows.
func WithSent(ctx context.Context, s *Sent) context.Context {
	return context.WithValue(ctx, sentKey{}, s)
}

// NewTransport returns a transport that adds credentials to requests: those given, else
// the user's own.
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

// authorizer is a transport that adds credentials to requests to one host (see
// [WithSent]): not after a redirect to another host or port, and never without TLS.
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
