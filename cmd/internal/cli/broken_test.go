package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/cli"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
)

// breakAt says in the environment where the tests' program panics.
const breakAt = "KUBECTL_OPERATOR_TEST_BREAK"

// TestClusterExitCodeOfABrokenProgramIsTrue lets the program panic before and after
// its first write. It ends with 1 or 4, and never with 2, which means that
// nothing changed; the stack is in the log file alone; the same command goes on.
func TestClusterExitCodeOfABrokenProgramIsTrue(t *testing.T) {
	t.Parallel()
	box, schemas := sandboxtest.Start(t), k8s.NewSchemas()
	for i, test := range []struct {
		at    string
		code  int
		wrote bool
	}{
		{cli.BreaksEarly, 1, false},
		{cli.BreaksLate, 4, true},
		{cli.BreaksAside, 4, true},
		{cli.BreaksPrinter, 4, true},
		{cli.BreaksOutside, -1, true},
	} {
		t.Run(test.at, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t, box, schemas, fmt.Sprint("broken-", i))
			v.review()
			log := filepath.Join(v.dir, "log")
			cmd := v.program(v.kubeconfig(), append(v.byDigest(), "--log-file", log)...)
			cmd.Env = append(cmd.Env, breakAt+"="+test.at)
			code, said := v.run(cmd)
			if code != test.code {
				t.Errorf("exit %d, want %d\n%s", code, test.code, said)
			}
			if status := cmd.ProcessState.Sys().(syscall.WaitStatus); code == -1 && status.Signal() != syscall.SIGABRT {
				t.Errorf("it was ended by %v", status.Signal())
			}
			if wrote := len(v.written()) > 0; wrote != test.wrote {
				t.Errorf("that it wrote is %t, want %t", wrote, test.wrote)
			}
			logged, err := os.ReadFile(log)
			if err != nil || !strings.Contains(string(logged), "breakingAt") {
				t.Errorf("the log file does not say where it broke: %v\n%s", err, logged)
			}
			if test.code != -1 && (strings.Contains(said, ".go:") || !strings.Contains(said, "panic: broken "+test.at) || !strings.Contains(said, log)) {
				t.Errorf("it said\n%s", said)
			}
			code, said = v.run(v.program(v.kubeconfig(), v.byDigest()...))
			stored, err := record.Load(t.Context(), v.client, v.release())
			if err != nil || stored == nil || stored.State != record.Applied || code != 0 && code != 5 {
				t.Errorf("the same command again: exit %d, %+v, %v\n%s", code, stored, err, said)
			}
			for _, finding := range v.findings {
				t.Error(finding)
			}
		})
	}
}
