package schema

import (
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// Issue is one way in which the new schema of a CRD accepts less than the old
// one. Version is that whose schema changed, "A to B" for a pair of served
// versions, or empty; Path is that of a field, such as spec.replicas or
// spec.listeners[*].port; Before and After are texts, "none" when absent.
type Issue struct {
	Rule     rules.Rule
	Severity preview.Severity
	Version  string
	Path     string
	What     string // the property that changed, such as maxLength
	Before   string
	After    string
}

// String returns the issue as evidence.
func (i Issue) String() string {
	text := i.What + " " + i.Before + " → " + i.After
	if i.Path != "" {
		text = i.Path + ": " + text
	}
	if i.Version != "" {
		text = i.Version + " " + text
	}
	return text
}

// GroupByRule groups issues by the names of their rules.
func GroupByRule(issues []Issue) map[string][]Issue {
	out := map[string][]Issue{}
	for _, issue := range issues {
		out[issue.Rule.Name] = append(out[issue.Rule.Name], issue)
	}
	return out
}

// WorstSeverity returns the highest severity of issues.
func WorstSeverity(issues []Issue) preview.Severity {
	severity := preview.Info
	for _, issue := range issues {
		if issue.Severity.Rank() < severity.Rank() {
			severity = issue.Severity
		}
	}
	return severity
}

// maxIssues bounds how many changes of a schema one finding lists.
const maxIssues = 40

// IssueEvidence returns the evidence of issues. It ends with a hash where it
// does not name them all, so that accepting it accepts no other list.
func IssueEvidence(issues []Issue) string {
	all := make([]string, 0, len(issues))
	for _, issue := range issues {
		all = append(all, issue.String())
	}
	text := strings.Join(all[:min(len(all), maxIssues)], "; ")
	if more := len(all) - maxIssues; more > 0 {
		text += fmt.Sprintf("; and %d more (%s)", more, preview.HashBytes([]byte(strings.Join(all, "\n")))[:19])
	}
	return text
}
