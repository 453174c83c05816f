package cli_test

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
)

// A page of the manual goes through the user's pager on a terminal alone.
func TestTerminalHelpGoesThroughThePager(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "tests in a terminal")
	p := newPane(t, 70, 60, "PAGER=sed s/^/paged:/")
	p.run("kubectl-operator help exit-codes; echo exit=$?")
	if screen := p.wait("exit=0"); !strings.Contains(screen, "paged:  0  done and healthy") {
		t.Errorf("without the pager:\n%s", screen)
	}
	p.run("clear; kubectl-operator help exit-codes | head -3; echo piped=$?")
	if screen := p.wait("piped=0"); strings.Contains(screen, "paged:") {
		t.Errorf("the pager is run though the output goes to a pipe:\n%s", screen)
	}
	p.run("clear; PAGER=/no/such/pager kubectl-operator help exit-codes | cat; PAGER=/no/such/pager kubectl-operator help exit-codes; echo missing=$?")
	if screen := p.wait("missing=0"); !strings.Contains(screen, "done and healthy") {
		t.Errorf("without a pager that can be run the page is not printed:\n%s", screen)
	}
}
