package schema

import (
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// ByRule groups issues.
func ByRule(issues []Issue) map[string][]Issue {
	out := map[string][]Issue{}
	for _, issue := range issues {
		out[issue.Rule] = append(out[issue.Rule], issue)
	}
	return out
}

// Worst is the severity of the worst issue.
func Worst(issues []Issue) preview.Severity {
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

// Listed is the evidence of issues. It ends with a hash where it does not name
// them all, so that accepting it accepts no other list.
func Listed(issues []Issue) string {
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
