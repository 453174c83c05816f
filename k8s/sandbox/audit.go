package sandbox

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"path/filepath"
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
	UserAgent  string `json:"userAgent"`
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
func ReadAudit(path string) ([]AuditEvent, error) {
	var events []AuditEvent
	var begin auditPlace
	err := begin.readOn(path, func(e AuditEvent) { events = append(events, e) })
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
	read   auditPlace
	since  auditPlace // see Forget
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
	m.byUser, m.since = nil, m.read
	return nil
}

// Requests returns the audit events since the last call of Forget, or all.
func (s *Sandbox) Requests() ([]AuditEvent, error) {
	s.mutations.mu.Lock()
	since := s.mutations.since
	s.mutations.mu.Unlock()
	var events []AuditEvent
	err := since.readOn(s.AuditLog(), func(e AuditEvent) { events = append(events, e) })
	return events, err
}

// Mutations returns a user's requests that changed the cluster so far, in order, without
// dry runs, refused requests and access reviews.
func (s *Sandbox) Mutations(user string) ([]AuditEvent, error) {
	m := &s.mutations
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byUser == nil {
		m.byUser = map[string][]AuditEvent{}
	}
	err := m.read.readOn(s.AuditLog(), func(e AuditEvent) {
		if e.Persisted() {
			m.byUser[e.User.Username] = append(m.byUser[e.User.Username], e)
		}
	})
	return slices.Clone(m.byUser[user]), err
}

// auditPlace is how far an audit log was read. The API server renames a log that has become
// large, keeps one such, and begins another: the open file is still the one that was read.
// The zero place is before everything that the log's directory has. Files are closed when
// no place has them any more.
type auditPlace struct {
	file *os.File
	at   int64
}

// readOn calls each with the events since the place, and moves it behind them.
func (p *auditPlace) readOn(path string, each func(AuditEvent)) error {
	log, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("reading the audit log: %w", err)
	}
	if p.file != nil && isSame(p.file, log) {
		log.Close()
	} else if err := p.turnTo(log, path, each); err != nil {
		return err
	}
	if info, err := p.file.Stat(); err != nil || info.Size() < p.at {
		return lostAudit(path)
	}
	return p.parse(each)
}

// turnTo reads the rest of the log before this one, which must be the one that was renamed.
func (p *auditPlace) turnTo(log *os.File, path string, each func(AuditEvent)) error {
	// The name has the time of the renaming; the pattern is well formed.
	renamed, _ := filepath.Glob(strings.TrimSuffix(path, ".log") + "-*.log")
	if len(renamed) > 0 {
		before, err := os.Open(slices.Max(renamed))
		switch {
		case err != nil:
			return fmt.Errorf("reading the audit log: %w", err)
		case p.file != nil && !isSame(p.file, before):
			return lostAudit(path)
		}
		p.file = before
		if err := p.parse(each); err != nil {
			return err
		}
	} else if p.file != nil {
		return lostAudit(path)
	}
	p.file, p.at = log, 0
	return nil
}

func lostAudit(path string) error {
	return fmt.Errorf("reading the audit log: %s was begun anew, and what it held before is lost", path)
}

func (p *auditPlace) parse(each func(AuditEvent)) error {
	size, err := parseAudit(io.NewSectionReader(p.file, p.at, math.MaxInt64-p.at), each)
	p.at += size
	return err
}

func isSame(a, b *os.File) bool {
	left, err := a.Stat()
	if err != nil {
		return false
	}
	right, err := b.Stat()
	return err == nil && os.SameFile(left, right)
}
