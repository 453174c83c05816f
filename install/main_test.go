package install_test

import (
	"os"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
)

// atATime is the number of parallel tests of this package: they wait
// for a control plane more than they compute.
const atATime = 8

func TestMain(m *testing.M) { os.Exit(sandboxtest.Run(m, atATime)) }
