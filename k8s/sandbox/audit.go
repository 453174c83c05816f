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

// maxAuditLine bounds one event. Events have no bodies, but names and URLs.
const maxAuditLine = 1 << 20

// AuditEvent is one answered request, out of audit.k8s.io/v1 Event.
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
// mutating verb that succeeded, without dryRun, and not one of the reviews and
// token requests, which are asked with "create" but store nothing.
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

// String is "VERB GROUP/RESOURCE[/SUBRESOURCE] [NAMESPACE/]NAME", with "core"
// for the empty group.
func (e AuditEvent) String() string {
	group := e.ObjectRef.APIGroup
	if group == "" {
		group = "core"
	}
	resource := strings.TrimSuffix(group+"/"+e.ObjectRef.Resource+"/"+e.ObjectRef.Subresource, "/")
	name := strings.TrimPrefix(e.ObjectRef.Namespace+"/"+e.ObjectRef.Name, "/")
	return e.Verb + " " + resource + " " + name
}

// ReadAudit reads an audit log in the order of its entries. The API server
// writes an entry when the response is complete; a client may read the end of a
// long response a moment earlier.
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

// parseAudit calls each with every entry, and returns how many bytes they took. Without its
// newline the last entry is still being written, and is left for later.
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

// mutations counts the persisted writes so far, by user. The log is read on
// from where the last read ended, because it grows with every request of every
// user.
type mutations struct {
	mu     sync.Mutex
	offset int64
	since  int64 // see Forget
	byUser map[string][]AuditEvent
}

// Forget has Mutations and Requests begin with what comes now: for a control plane that
// is lent to one test after another.
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

// Requests returns the entries of the audit log since Forget, or all.
func (s *Sandbox) Requests() ([]AuditEvent, error) {
	s.mutations.mu.Lock()
	since := s.mutations.since
	s.mutations.mu.Unlock()
	return readAudit(s.AuditLog(), since)
}

// Mutations returns what a user has changed in the cluster so far, in order: dry
// runs, refused requests and access reviews are not among it.
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
