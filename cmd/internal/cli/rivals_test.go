package cli_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
)

// rounds of two installers that start at once.
const rivalRounds = 6

// TestClusterTwoInstallersAtOnce starts two processes with the same approval, again
// and again: exactly one installs, and the other writes nothing of the plan.
func TestClusterTwoInstallersAtOnce(t *testing.T) {
	t.Parallel()
	box := sandboxtest.Start(t)
	schemas, raw := k8s.NewSchemas(), sandboxtest.NewRawClient(t, box.Kubeconfig())
	codes := map[string]int{}
	var rounds errgroup.Group
	rounds.SetLimit(3)
	type rival struct {
		user string
		code int
		said bytes.Buffer
	}
	pairs := make([][2]*rival, rivalRounds)
	victims := make([]*victim, rivalRounds)
	for round := range rivalRounds {
		v := newVictim(t, box, schemas, fmt.Sprint("round-", round))
		victims[round] = v
		rounds.Go(func() error {
			// In a namespace that exists the lease decides, else who makes it.
			if round%2 == 1 {
				body := map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": v.name}}
				if status, _, err := raw.Do(t.Context(), http.MethodPost, "/api/v1/namespaces", "", body); err != nil || status != http.StatusCreated {
					return fmt.Errorf("making the namespace: %d, %w", status, err)
				}
			}
			v.review()
			var both errgroup.Group
			for i := range pairs[round] {
				r := &rival{user: fmt.Sprintf("%s-%d", v.name, i)}
				pairs[round][i] = r
				kubeconfig, err := box.User(r.user, "system:masters")
				if err != nil {
					return err
				}
				cmd := v.program(kubeconfig, v.byDigest()...)
				cmd.Stdout, cmd.Stderr = &r.said, &r.said
				both.Go(func() error {
					_ = cmd.Run()
					r.code = cmd.ProcessState.ExitCode()
					return nil
				})
			}
			return both.Wait()
		})
	}
	if err := rounds.Wait(); err != nil {
		t.Fatal(err)
	}
	for round, pair := range pairs {
		v := victims[round]
		wrote, made := [2]bool{}, [2]bool{}
		for i, r := range pair {
			v.user = r.user
			// Who made the Namespace need not be who got the lease in it.
			for id := range v.written() {
				if strings.HasPrefix(id, "core/Namespace/") {
					made[i] = true
				} else {
					wrote[i] = true
				}
			}
		}
		winner, loser, changed := pair[0], pair[1], made[1]
		if wrote[1] {
			winner, loser, changed = pair[1], pair[0], made[0]
		}
		codes[fmt.Sprintf("%d and %d", winner.code, loser.code)]++
		switch {
		case wrote[0] && wrote[1]:
			t.Errorf("round %d: both wrote\n%s\n%s", round, &pair[0].said, &pair[1].said)
		case winner.code != 0:
			t.Errorf("round %d: who wrote ended with %d\n%s", round, winner.code, &winner.said)
		case changed && loser.code != 3, !changed && loser.code != 1 && loser.code != 5:
			t.Errorf("round %d: who did not write ended with %d\n%s", round, loser.code, &loser.said)
		}
		for _, finding := range v.findings {
			t.Errorf("round %d: %s", round, finding)
		}
	}
	t.Logf("%d rounds ended so: %v", rivalRounds, codes)
}
