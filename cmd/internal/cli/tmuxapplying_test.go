package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
)

// faulty writes a bundle whose only Deployment fails as the sandbox plays it.
func (p *pane) faulty(fault string) {
	p.t.Helper()
	archive, err := txtar.ParseFile(filepath.Join(root(p.t), "testdata", "script", "shared", "failing-rollout.txtar"))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, file := range archive.Files {
		path := filepath.Join(p.dir, file.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			p.t.Fatal(err)
		}
		data := bytes.ReplaceAll(file.Data, []byte("sandbox-fault: image-pull"), []byte("sandbox-fault: "+fault))
		if err := os.WriteFile(path, data, 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
}

// approveFaulty leads to APPLYING of that bundle.
func (p *pane) approveFaulty(flags string) {
	p.t.Helper()
	p.run("clear; kubectl-operator install ./faulty" + flags + "; echo exit=$?")
	p.wait("CRITICAL")
	p.keys("a")
	p.wait("and press enter to approve")
	p.press("y", "> y")
	p.keys("Enter")
}

// A rollout that gets nowhere is looked into on the screen: events and logs of
// the pods, the connection lost and back, more time before the end and after it.
func TestTerminalApplyIsLookedInto(t *testing.T) {
	t.Parallel()
	p := installer(t, 120, 36)
	p.faulty("crash-loop")
	var away atomic.Bool
	proxy := sandboxtest.NewProxy(t, p.box.Kubeconfig(), sandboxtest.ProxyOptions{Fault: func(sandboxtest.Request) sandboxtest.Fault {
		if away.Load() {
			return sandboxtest.Fault{Cut: sandboxtest.CutBefore}
		}
		return sandboxtest.Fault{}
	}})
	p.run("export KUBECONFIG=" + proxy.Kubeconfig)
	p.approveFaulty(" --rollout-timeout 30m")
	p.wait("container crashes: pod faulty-")
	p.wait("cannot reach the database") // the log of the container that crashed
	p.fits(120, 36)
	p.keys("e")
	p.wait("Back-off restarting failed container")
	p.wait("ScalingReplicaSet")
	p.fits(120, 36)
	p.keys("l")
	p.wait("container faulty  (the run that ended)")
	p.wait("giving up")
	p.keys("p")
	p.wait("follow off")
	p.keys("Escape")
	p.wait("done (latest)")
	p.keys("?")
	p.wait("This screen")
	p.fits(120, 36)
	p.keys("Escape")
	p.wait("waiting")

	away.Store(true)
	proxy.Break()
	p.wait("cannot reach the cluster since")
	p.wait("as of ")
	p.fits(120, 36)
	p.tmux("resize-window", "-x", "40", "-y", "12")
	p.wait("no answer, as of")
	p.fits(40, 12)
	p.tmux("resize-window", "-x", "120", "-y", "36")
	away.Store(false)
	p.until("the cluster's answer", func(s string) bool {
		return strings.Contains(s, "APPLYING") && !strings.Contains(s, "cannot reach the cluster") && !strings.Contains(s, "as of")
	})

	p.wait("limit 30m")
	p.keys("r")
	p.wait("extended by 30m00s")
	p.wait("limit 1h00m")
	p.keys("C-c")
	p.wait("stop what?")
	p.keys("d")
	p.wait("q leave")
	p.keys("q")
	p.wait("exit=4")
	p.sane()
}

// When the time is over the screen says so, and r goes on with the same plan.
func TestTerminalApplyThatTimedOutIsGoneOnWith(t *testing.T) {
	t.Parallel()
	p := installer(t, 80, 24)
	p.faulty("pending")
	p.approveFaulty(" --rollout-timeout 3s")
	p.wait("TIMED OUT")
	p.wait("r: extend by 3s; the cluster")
	p.fits(80, 24)
	p.keys("r")
	p.wait("APPLYING")
	p.wait("TIMED OUT")
	p.wait("keeps trying")
	p.keys("q")
	screen := p.wait("exit=4")
	if !strings.Contains(screen, "TIMED OUT after") {
		t.Errorf("the summary does not say that the time was over:\n%s", screen)
	}
	p.sane()
}

// The run does not go on after another user's change; objects applied before stay, and
// the screen says so.
func TestTerminalApplyThatChangedMeanwhileIsNotGoneOnWith(t *testing.T) {
	t.Parallel()
	p := installer(t, 80, 24)
	p.faulty("pending")
	p.approveFaulty(" --rollout-timeout 1s")
	p.wait("r: extend by 1s; the cluster")
	patch := `[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"registry.example.com/other:v1"}]`
	args := []string{"--kubeconfig", p.box.Kubeconfig(), "-n", "faulty", "patch", "deployment", "faulty", "--type=json", "-p", patch}
	if out, err := exec.Command(sandboxtest.Kubectl(t), args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p.keys("r")
	p.wait("NOT RESUMED")
	p.wait("is not what this plan creates")
	p.fits(80, 24)
	p.keys("Enter") // does not leave
	p.keys("q")
	screen := p.wait("exit=4")
	if !strings.Contains(screen, "what was applied before stays as it is") {
		t.Errorf("the end does not say what became of what was applied:\n%s", screen)
	}
	p.sane()
}
