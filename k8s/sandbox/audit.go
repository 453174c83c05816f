package sandbox

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
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
func ReadAudit(path string) ([]AuditEvent, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	defer f.Close()
	return parseAudit(f)
}

func parseAudit(r io.Reader) ([]AuditEvent, error) {
	var events []AuditEvent
	reader := bufio.NewReaderSize(r, maxAuditLine)
	for {
		line, err := reader.ReadSlice('\n')
		if err == io.EOF {
			// Without its newline the last entry is still being written.
			return events, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading the audit log: %w", err)
		}
		var event AuditEvent
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, fmt.Errorf("reading the audit log: entry %d: %w", len(events)+1, err)
		}
		events = append(events, event)
	}
}
