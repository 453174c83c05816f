package source_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/auth"
)

// The dimensions of the table: every source with every way to log in and every
// fault on the way.
var (
	matrixAuths  = []string{"none", "basic", "bearer", "pull secret", "ssh key"}
	matrixFaults = []string{"none", "401", "expired", "429", "5xx", "moved", "truncated", "wrong digest", "redirect", "too large"}
)

// ok is the outcome of a cell where the content arrives, as it was pinned.
const ok = "ok"

// na is the outcome of a cell that cannot be, and why.
func na(why string) string { return "n/a: " + why }

// matrixRow is one source with the outcome of each fault. A row missing under a fault is
// an error of the table.
type matrixRow struct {
	name  string
	start func(t *testing.T, s *matrixServer) matrixCell
	auths map[string]string // how it logs in; ok, or why not
	// data and bulk pick the requests that faults are about: all that fetch
	// something, and those for the bytes of the content.
	data, bulk func(*http.Request) bool
	faults     map[string]string
}

// matrixCell is one source made ready.
type matrixCell struct {
	text   string // the reference
	sealed string // the reference with its digest, where that is another
	o      source.Options
	move   func() // makes the reference lead elsewhere
	secret map[string]any
	spoil  map[string]func() // faults that no server makes
}

// matrixServer stands in front of a source's own server. It lets everything
// pass until live.
type matrixServer struct {
	auth, fault string
	row         *matrixRow
	live        atomic.Bool
	mu          sync.Mutex
	elsewhere   []string // Authorization headers that reached the other host
	other       webServer
}

// front makes a server with a login and a fault.
func (s *matrixServer) front(t *testing.T, inner http.Handler) webServer {
	s.other = serve(t, func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.elsewhere = append(s.elsewhere, r.Header.Get("Authorization"))
		s.mu.Unlock()
		inner.ServeHTTP(w, r)
	})
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !s.live.Load():
			inner.ServeHTTP(w, r)
		case !s.permits(r):
			w.Header().Set("WWW-Authenticate", map[string]string{"bearer": `Bearer realm="https://` + r.Host + `/token"`}[s.auth]+
				map[string]string{"basic": `Basic realm="x"`, "pull secret": `Basic realm="x"`}[s.auth])
			w.WriteHeader(http.StatusUnauthorized)
		default:
			s.spoil(w, r, inner)
		}
	})
}

func (s *matrixServer) permits(r *http.Request) bool {
	user, password, _ := r.BasicAuth()
	switch s.auth {
	case "basic", "pull secret":
		return user == "me" && password == "hunter2"
	case "bearer":
		return r.Header.Get("Authorization") == "Bearer hunter2"
	}
	return true
}

// spoil answers with the fault.
func (s *matrixServer) spoil(w http.ResponseWriter, r *http.Request, inner http.Handler) {
	data, bulk := s.row.data(r), s.row.bulk(r)
	switch {
	case data && s.fault == "401", bulk && s.fault == "expired":
		w.WriteHeader(http.StatusUnauthorized)
	case data && s.fault == "429":
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	case data && s.fault == "5xx":
		w.WriteHeader(http.StatusInternalServerError)
	case bulk && s.fault == "redirect":
		http.Redirect(w, r, "https://"+s.other.host+r.URL.RequestURI(), http.StatusTemporaryRedirect)
	case bulk && s.fault == "too large":
		w.Header().Set("Content-Length", "10000000000")
		w.WriteHeader(http.StatusOK)
	case bulk && (s.fault == "truncated" || s.fault == "wrong digest"):
		recorded := httptest.NewRecorder()
		inner.ServeHTTP(recorded, r)
		body := bytes.Clone(recorded.Body.Bytes())
		for key, values := range recorded.Header() {
			w.Header()[key] = values
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		if s.fault == "truncated" {
			body = body[:len(body)/2]
		} else if len(body) > 0 {
			body[len(body)/2] ^= 1
		}
		w.WriteHeader(recorded.Code)
		_, _ = w.Write(body)
	default:
		inner.ServeHTTP(w, r)
	}
}

func everyRequest(*http.Request) bool { return true }
func ending(suffix string) func(*http.Request) bool {
	return func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, suffix) }
}
func within(part string) func(*http.Request) bool {
	return func(r *http.Request) bool { return strings.Contains(r.URL.Path, part) }
}

// TestTheTableOfSourcesIsWhole holds the table to an outcome for every source, login and
// fault. TestRegistriesByLoginAndFault runs such cells of one source with -short.
func TestTheTableOfSourcesIsWhole(t *testing.T) {
	for _, row := range matrixRows() {
		for _, auth := range matrixAuths {
			if _, known := row.auths[auth]; !known {
				t.Errorf("%s by %s: the table says nothing", row.name, auth)
			}
		}
		for _, fault := range matrixFaults {
			if _, known := row.faults[fault]; !known {
				t.Errorf("%s with %s: the table says nothing", row.name, fault)
			}
		}
	}
}

// TestSlowEverySourceByLoginAndFault runs the whole table. A cell that cannot be
// says why.
func TestSlowEverySourceByLoginAndFault(t *testing.T) {
	slowtest.Skip(t, "every source by every login and fault")
	noNetrc(t)
	awsEnvironment(t)
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	t.Setenv("SSH_AUTH_SOCK", "")
	for _, row := range matrixRows() {
		for _, auth := range matrixAuths {
			if row.auths[auth] != ok {
				continue // which says why
			}
			for _, fault := range matrixFaults {
				want := row.faults[fault]
				if fault == "expired" && auth == "none" {
					want = na("nothing expires without a login")
				}
				if strings.HasPrefix(want, "n/a: ") {
					continue
				}
				t.Run(row.name+", "+auth+", "+fault, func(t *testing.T) {
					t.Parallel() // most of them wait before they ask again
					row.run(t, auth, fault, want)
				})
			}
		}
	}
}

func (row *matrixRow) run(t *testing.T, auth, fault, want string) {
	s := &matrixServer{auth: auth, fault: fault, row: row}
	cell := row.start(t, s)
	s.live.Store(true)
	if cell.o.CacheDir == "" {
		cell.o.CacheDir = t.TempDir()
	}
	cell.o.RequestTimeout = 5 * time.Second
	if spoil := cell.spoil[fault]; spoil != nil {
		spoil()
	}
	text := cell.text
	if fault == "wrong digest" && cell.sealed != "" {
		text = cell.sealed
	}
	pin, content, err := cell.get(t, text, fault == "moved")
	if want != ok {
		mustFail(t, err, want)
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error holds a credential: %v", err)
		}
		return
	}
	must(t, err)
	if content.Source != pin.Source || !slices.Contains([]string{"csv", "kind: ConfigMap\n"}, first(files(t, content.FS), "manifests/csv.yaml", "templates/cm.yaml")) {
		t.Errorf("got %v of %+v, pinned %+v", files(t, content.FS), content.Source, pin.Source)
	}
	for _, sent := range s.elsewhere {
		if sent != "" {
			t.Errorf("another host was sent %q", sent)
		}
	}
}

func first(m map[string]string, keys ...string) string {
	for _, key := range keys {
		if v, there := m[key]; there {
			return v
		}
	}
	return ""
}

// get pins and opens as its own request with credentials does.
func (c matrixCell) get(t *testing.T, text string, moves bool) (source.Pin, *source.Content, error) {
	t.Helper()
	reference, err := ref.Parse(text)
	must(t, err)
	f := source.New(c.o)
	if c.secret != nil {
		given, err := auth.ReadCredentials(t.Context(), secrets{"ns/s": c.secret}, "ns/s", reference)
		if err != nil {
			return source.Pin{}, nil, err
		}
		f = f.With(given)
	}
	pin, err := f.Pin(t.Context(), reference)
	if err != nil {
		return pin, nil, err
	}
	if moves {
		c.move()
	}
	content, err := f.Open(t.Context(), pin)
	return pin, content, err
}

// login is the Secret for a way to log in.
func (s *matrixServer) login(host string) map[string]any {
	switch s.auth {
	case "basic":
		return secret("kubernetes.io/basic-auth", "username", "me", "password", "hunter2")
	case "bearer":
		return secret("Opaque", "bearerToken", "hunter2")
	case "pull secret":
		return secret("kubernetes.io/dockerconfigjson", ".dockerconfigjson", `{"auths":{"`+host+`":{"username":"me","password":"hunter2"}}}`)
	}
	return nil
}
