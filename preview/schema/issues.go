package schema

import (
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// Issue is one way that a new CRD accepts less than the old one. Version is the version
// whose schema changed, "A to B" for two served versions that differ, or empty. Path is
// the field's path, such as spec.replicas or spec.listeners[*].port. Before and After
// are values as text, "none" if there is none.
type Issue struct {
	Rule     rules.Rule
	Severity preview.Severity
	Version  string
	Path     string
	What     string // the property that changed, such as maxLength
	Before   string
	After    string
}

// String returns the issue as a piece of evidence.
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

// GroupByRule returns the issues by the name of their rule.
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

// maxIssues is the most issues that the evidence of one finding lists.
const maxIssues = 40

// IssueEvidence returns issues as evidence. If it does not list all of them, it ends
// with a hash of all, so that an acceptance of the finding covers exactly these issues.
func IssueEvidence(issues []Issue) []preview.Piece {
	all, pieces := make([]string, len(issues)), make([]preview.Piece, 0, min(len(issues), maxIssues)+1)
	for i, issue := range issues {
		if all[i] = issue.String(); i < maxIssues {
			pieces = append(pieces, preview.Piece{Item: &preview.Item{Name: issue.Version}, What: all[i]})
		}
	}
	if more := len(all) - maxIssues; more > 0 {
		pieces = append(pieces, preview.Piece{What: fmt.Sprintf("and %d more (%s)", more, preview.HashBytes([]byte(strings.Join(all, "\n")))[:19])})
	}
	return pieces
}
