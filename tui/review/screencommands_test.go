package review

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	document "github.com/kubectl-operator/kubectl-operator/preview/review"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// screenCommand is a command of this program on a screen: to the end of the cell.
var screenCommand = regexp.MustCompile(`kubectl operator [a-z][^\n│` + "`" + `"]*`)

// reportedCommands are those about a plan that the reports have, and that their tests
// carry out.
func reportedCommands(p *preview.Plan) []string {
	out := append(strings.Split(document.Command(p), "\n"), document.RepeatCommand(p), document.RoleCommand(p), document.ReviewerCommand(p), frame.UndoCommand(p))
	v := verdict.For(p)
	for _, m := range v.Mitigations {
		out = append(out, document.RepeatCommand(p, m.Flags...))
	}
	for _, o := range v.Obstacles {
		out = append(out, screenCommand.FindAllString(o.Remedy, -1)...)
	}
	return out
}

// No command of a screen is one of its own: each is one that the reports have about the
// plan, with the flags that the plan was made with.
func TestSlowCommandsOfTheScreenAreThoseOfTheReports(t *testing.T) {
	slowtest.Skip(t, "the commands of the whole corpus")
	seen, looked, plans := 0, 0, corpusPlans(t)
	for i, name := range slices.Sorted(maps.Keys(plans)) {
		if !slowtest.InSample(i, 4) {
			continue
		}
		p := plans[name]
		looked++
		p.Request.Flags = []string{"--context=prod east", "--ca-file=our ca.pem"}
		known := reportedCommands(p)
		rows := map[string]bool{}
		eachList(t, p, 6000, func(_ string, m *review, cells int) {
			for _, r := range m.activeTab().rows {
				rows[r.Copy], rows[r.Explanation()], rows[visibleRow(m, r, cells)] = true, true, true
			}
			rows[ansi.Strip(m.View().Content)], rows[m.command()] = true, true
		})
		for text := range rows {
			for _, found := range screenCommand.FindAllString(text, -1) {
				found = strings.TrimSpace(found)
				seen++
				if !slices.Contains(known, found) && !strings.HasPrefix(found, commandline.Operator("explain")) {
					t.Errorf("%s: %s\nis none of\n%s", name, found, strings.Join(known, "\n"))
				}
			}
		}
	}
	t.Logf("%d commands", seen)
	if seen < looked {
		t.Errorf("only %d commands of %d plans were seen", seen, looked)
	}
}

// The kubectl commands of an opened finding are for the cluster of the plan.
func TestCommandsOfAFindingAreForTheClusterOfThePlan(t *testing.T) {
	b := tuitest.NewPlan(t, preview.RequestInstall)
	b.Finding(preview.Warning, "helm-history", "HELM-1", "core/Secret/app/x", "history stays", "look", "after the install: kubectl delete secret -l owner=helm -n app")
	p := b.Seal()
	p.Request.Flags = []string{"--context=prod"}
	m, c := reviewOf(t, p, 120, 50)
	tuitest.Drive(m, c, "2", "enter")
	if want := "kubectl --context=prod delete secret"; !tuitest.Shows(m, want) {
		t.Errorf("no %s in\n%s", want, strings.Join(tuitest.ScreenOf(m), "\n"))
	}
}
