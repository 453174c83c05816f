package record_test

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// passes says for every way of approval which findings pass, by how they are accepted: not
// at all, by a bare id, by id and fingerprint, and by the fingerprint of another evidence.
// Digests are in turn of the present and of an earlier ruleset, the content digest for
// findings about the content and about the cluster.
var passes = `
way                      finding    -     id    id=fp other
yes                      critical   no    no    yes   no
yes                      earlier    no    no    yes   no
yes                      policy     no    no    yes   no
yes                      unknown    no    no    yes   no
yes                      warning    yes   yes   yes   yes
yes                      info       yes   yes   yes   yes
digest                   critical   yes   yes   yes   yes
digest                   earlier    yes   yes   yes   yes
digest                   policy     no    yes   yes   no
digest                   unknown    no    yes   yes   no
digest                   warning    yes   yes   yes   yes
digest                   info       yes   yes   yes   yes
digest/old               critical   no    yes   yes   no
digest/old               earlier    yes   yes   yes   yes
digest/old               policy     no    yes   yes   no
digest/old               unknown    no    yes   yes   no
digest/old               warning    yes   yes   yes   yes
digest/old               info       yes   yes   yes   yes
content-digest           critical   yes   yes   yes   yes
content-digest           earlier    yes   yes   yes   yes
content-digest           policy     no    yes   yes   no
content-digest           unknown    no    yes   yes   no
content-digest           warning    yes   yes   yes   yes
content-digest           info       yes   yes   yes   yes
content-digest/cluster   critical   no    yes   yes   no
content-digest/cluster   earlier    yes   yes   yes   yes
content-digest/cluster   policy     no    yes   yes   no
content-digest/cluster   unknown    no    yes   yes   no
content-digest/cluster   warning    yes   yes   yes   yes
content-digest/cluster   info       yes   yes   yes   yes
content-digest/old       critical   no    yes   yes   no
content-digest/old       earlier    yes   yes   yes   yes
content-digest/old       policy     no    yes   yes   no
content-digest/old       unknown    no    yes   yes   no
content-digest/old       warning    yes   yes   yes   yes
content-digest/old       info       yes   yes   yes   yes
plan-file                critical   no    yes   yes   no
plan-file                earlier    yes   yes   yes   yes
plan-file                policy     no    yes   yes   no
plan-file                unknown    no    yes   yes   no
plan-file                warning    yes   yes   yes   yes
plan-file                info       yes   yes   yes   yes
plan-file/reviewed       critical   yes   yes   yes   yes
plan-file/reviewed       earlier    yes   yes   yes   yes
plan-file/reviewed       policy     no    yes   yes   no
plan-file/reviewed       unknown    yes   yes   yes   yes
plan-file/reviewed       unread     no    yes   yes   no
plan-file/reviewed       warning    yes   yes   yes   yes
plan-file/reviewed       info       yes   yes   yes   yes
screen                   critical   no    yes   yes   no
screen                   earlier    yes   yes   yes   yes
screen                   policy     no    yes   yes   no
screen                   unknown    no    yes   yes   no
screen                   warning    yes   yes   yes   yes
screen                   info       yes   yes   yes   yes
`

// failsOn says for every finding which levels of --fail-on it fails.
var failsOn = `
finding    critical warning unknown
critical   fails    fails   fails
earlier    fails    fails   fails
policy     fails    fails   fails
unknown    -        -       fails
unread     -        -       fails
warning    -        fails   fails
info       -        -       -
`

func findingsByName() map[string]preview.Finding {
	of := func(severity preview.Severity, change func(*preview.Finding)) preview.Finding {
		f := preview.Finding{ID: "rule/x", Rule: "rule", Severity: severity, Fingerprint: "this"}
		change(&f)
		return f
	}
	same := func(*preview.Finding) {}
	return map[string]preview.Finding{
		"critical": of(preview.Critical, same), "unknown": of(preview.NotKnown, same), "warning": of(preview.Warning, same), "info": of(preview.Info, same),
		"unread":  of(preview.NotKnown, func(f *preview.Finding) { f.ID, f.Rule = "unknown/x", "unknown" }),
		"earlier": of(preview.Warning, func(f *preview.Finding) { f.AcceptedIn = 2 }),
		"policy":  of(preview.Critical, func(f *preview.Finding) { f.Judged = &preview.PolicyDecision{By: preview.JudgedBySeverity} }),
	}
}

// cells returns the words of each line of a table below its heading.
func cells(table string) (heading []string, rows [][]string) {
	lines := strings.Split(strings.TrimSpace(table), "\n")
	for _, line := range lines[1:] {
		rows = append(rows, strings.Fields(line))
	}
	return strings.Fields(lines[0]), rows
}

func TestWhatMayPass(t *testing.T) {
	heading, rows := cells(passes)
	for _, row := range rows {
		f := findingsByName()[row[1]]
		way, how, _ := strings.Cut(row[0], "/")
		for i, accepted := range heading[2:] {
			a := record.Approval{How: strings.ReplaceAll(way, "-", " "), Ruleset: preview.Ruleset}
			switch accepted {
			case "id":
				a.Accepted = []record.Acceptance{{ID: f.ID}}
			case "id=fp":
				a.Accepted = []record.Acceptance{{ID: f.ID, Fingerprint: f.Fingerprint}}
			case "other":
				a.Accepted = []record.Acceptance{{ID: f.ID, Fingerprint: "another"}}
			}
			switch how {
			case "old":
				a.Ruleset--
			case "reviewed":
				a = a.WithReviewed([]preview.Finding{f})
			}
			if got := a.Passes(f, how != "cluster"); got != (row[2+i] == "yes") {
				t.Errorf("%s, a finding %s, accepted %s: passes %v", row[0], row[1], accepted, got)
			}
		}
	}
	heading, rows = cells(failsOn)
	for _, row := range rows {
		f := findingsByName()[row[0]]
		for i, level := range heading[1:] {
			if got := f.AtLeast(preview.Severity(level)); got != (row[1+i] == "fails") {
				t.Errorf("--fail-on %s, a finding %s: fails %v", level, row[0], got)
			}
		}
	}
	if len(rows) != len(findingsByName()) {
		t.Error("a finding has no row")
	}
}
