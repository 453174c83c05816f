package sandbox

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
)

// maxAuditLine is the most bytes of one audit event, which has names and URLs,
// but no bodies.
const maxAuditLine = 1 << 20

// AuditEvent is one answered request in the audit log (an audit.k8s.io/v1 Event).
type AuditEvent struct {
	Verb       string `json:"verb"`
	RequestURI string `json:"requestURI"`
	User       struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef struct {
		APIGroup    string `json:"apiGroup"`
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
}

// Persisted reports whether the request changed what the cluster stores: a
// mutating verb that succeeded, without dryRun. Access reviews and token
// requests are left out: their verb is "create", but they store nothing.
func (e AuditEvent) Persisted() bool {
	if !slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, e.Verb) {
		return false
	}
	if e.ResponseStatus.Code < 200 || e.ResponseStatus.Code > 299 || e.dryRun() {
		return false
	}
	switch e.ObjectRef.APIGroup {
	case "authorization.k8s.io", "authentication.k8s.io":
		return false
	}
	return e.ObjectRef.Subresource != "token"
}

func (e AuditEvent) dryRun() bool {
	u, err := url.ParseRequestURI(e.RequestURI)
	return err == nil && u.Query().Has("dryRun")
}

// String returns "VERB GROUP/RESOURCE[/SUBRESOURCE] [NAMESPACE/]NAME", with
// "core" for the empty group.
func (e AuditEvent) String() string {
	group := e.ObjectRef.APIGroup
	if group == "" {
		group = "core"
	}
	resource := strings.TrimSuffix(group+"/"+e.ObjectRef.Resource+"/"+e.ObjectRef.Subresource, "/")
	name := strings.TrimPrefix(e.ObjectRef.Namespace+"/"+e.ObjectRef.Name, "/")
	return e.Verb + " " + resource + " " + name
}

// ReadAudit reads the events of an audit log in order. The API server writes an
// event when the response is complete; a client may have read the end of a long
// response a moment before that.
func ReadAudit(path string) ([]AuditEvent, error) { return readAudit(path, 0) }

func readAudit(path string, from int64) ([]AuditEvent, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	defer f.Close()
	var events []AuditEvent
	_, err = parseAudit(io.NewSectionReader(f, from, math.MaxInt64-from), func(e AuditEvent) { events = append(events, e) })
	return events, err
}

// parseAudit calls each with every event of an audit log, and returns how many bytes
// these took. A last line without newline is still being written, and is left out.
func parseAudit(r io.Reader, each func(AuditEvent)) (size int64, err error) {
	reader := bufio.NewReaderSize(r, maxAuditLine)
	for n := 1; ; n++ {
		line, err := reader.ReadSlice('\n')
		if err == io.EOF {
			return size, nil
		}
		if err != nil {
			return size, fmt.Errorf("reading the audit log: %w", err)
		}
		var event AuditEvent
		if err := json.Unmarshal(line, &event); err != nil {
			return size, fmt.Errorf("reading the audit log: entry %d: %w", n, err)
		}
		size += int64(len(line))
		each(event)
	}
}

// mutations holds the events of persisted writes so far, by user. Each read of the
// log goes on where the last one ended, because the log grows with every request.
type mutations struct {
	mu     sync.Mutex
	offset int64
	since  int64 // see Forget
	byUser map[string][]AuditEvent
}

// Forget makes Mutations and Requests leave out all requests so far: for a
// control plane that is lent to one test after another.
func (s *Sandbox) Forget() error {
	if _, err := s.Mutations(""); err != nil {
		return err
	}
	m := &s.mutations
	m.mu.Lock()
	defer m.mu.Unlock()
	m.byUser, m.since = nil, m.offset
	return nil
}

// Requests returns the audit events since the last call of Forget, or all.
func (s *Sandbox) Requests() ([]AuditEvent, error) {
	s.mutations.mu.Lock()
	since := s.mutations.since
	s.mutations.mu.Unlock()
	return readAudit(s.AuditLog(), since)
}

// Mutations returns the requests by which a user has changed the cluster so
// far, in order, without dry runs, refused requests and access reviews.
func (s *Sandbox) Mutations(user string) ([]AuditEvent, error) {
	m := &s.mutations
	m.mu.Lock()
	defer m.mu.Unlock()
	f, err := os.Open(s.AuditLog())
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	if info.Size() < m.offset {
		return nil, fmt.Errorf("reading the audit log: %s was begun anew, and what it held before is lost", s.AuditLog())
	}
	if m.byUser == nil {
		m.byUser = map[string][]AuditEvent{}
	}
	size, err := parseAudit(io.NewSectionReader(f, m.offset, math.MaxInt64-m.offset), func(e AuditEvent) {
		if e.Persisted() {
			m.byUser[e.User.Username] = append(m.byUser[e.User.Username], e)
		}
	})
	m.offset += size
	return slices.Clone(m.byUser[user]), err
}
