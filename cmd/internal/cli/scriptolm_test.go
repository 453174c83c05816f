package cli_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
)

// Scripts with the real OLM v0: its two programs run against the control plane, and
// operator-registry's server serves them a catalog, see .tools/olm.
func TestClusterOLMScripts(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "tests against the embedded control plane")
	if _, err := os.Stat(olmProgram(t, "operator")); err != nil {
		t.Skip("skipped: OLM is not built; run \"make olm\"")
	}
	sandboxtest.Binary(t) // skips or fails visibly
	testscript.Run(t, testscript.Params{
		Dir: scripts(t, "olm"), Setup: setupCluster(t), Cmds: olmCommands(t), Condition: conditions(t),
	})
}

// olmCommands are the commands of scripts, and one more.
func olmCommands(t testing.TB) map[string]func(*testscript.TestScript, bool, []string) {
	all := commands(t)
	all["onscreen"] = onScreenCommand(t)
	return all
}

func olmProgram(t testing.TB, name string) string { return filepath.Join(root(t), "bin", "olm-"+name) }

// olm DIR installs the CRDs of OLM v0 and runs it, with the catalog in DIR as what each
// registry pod serves.
func olmCommand(t testing.TB) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		crds := filepath.Join(root(t), "bin", "olm-crds.yaml")
		ts.Check(ts.Exec(sandboxtest.Kubectl(t), "apply", "--server-side", "-f", crds))
		ts.Check(ts.Exec(sandboxtest.Kubectl(t), "wait", "--for=condition=Established", "--timeout=60s", "-f", crds))
		ts.Check(ts.Exec(sandboxtest.Kubectl(t), "create", "namespace", "olm"))
		registry := exec.Command(olmProgram(t, "registry"), "-configs", ts.MkAbs(args[0]))
		out, err := registry.StdoutPipe()
		ts.Check(err)
		_, err = registry.StdinPipe() // its end is the end of the program
		ts.Check(err)
		beside(ts, registry, "registry.log")
		address, err := bufio.NewReader(out).ReadString('\n')
		ts.Check(err)
		env := append(os.Environ(), "KUBECONFIG="+ts.Getenv("KUBECONFIG"), "GRPC_PROXY="+strings.TrimSpace(address), "OPERATOR_NAMESPACE=olm", "OPERATOR_NAME=olm-operator")
		for _, c := range []*exec.Cmd{
			exec.Command(olmProgram(t, "catalog-operator"), "--namespace", "olm"),
			exec.Command(olmProgram(t, "operator"), "--namespace", "olm"),
		} {
			c.Env = env
			beside(ts, c, filepath.Base(c.Path)+".log")
		}
	}
}

// beside starts a program, with its log in a file of the script, until the script ends.
func beside(ts *testscript.TestScript, c *exec.Cmd, log string) {
	file, err := os.Create(ts.MkAbs(log))
	ts.Check(err)
	c.Stderr = file
	if c.Stdout == nil {
		c.Stdout = file
	}
	ts.Check(c.Start())
	ts.Defer(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		_ = file.Close()
	})
}

// unpacked IMAGE DIR is what the pod of OLM's unpacking Job writes, which has no kubelet
// to run it here: the files of a bundle, in a ConfigMap by the name of the image.
func unpackedCommand(t testing.TB) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		files, err := filepath.Glob(filepath.Join(ts.MkAbs(args[1]), "manifests", "*"))
		ts.Check(err)
		data := map[string]string{}
		for _, file := range files {
			text, err := os.ReadFile(file)
			ts.Check(err)
			data[filepath.Base(file)] = string(text)
		}
		body, err := json.Marshal(map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "data": data,
			"metadata": map[string]any{
				"name":      fmt.Sprintf("%x", sha256.Sum256([]byte(args[0])))[:63],
				"namespace": "olm", "labels": map[string]string{"olm.managed": "true"},
			},
		})
		ts.Check(err)
		c := exec.Command(sandboxtest.Kubectl(t), "apply", "--server-side", "--force-conflicts", "-f", "-")
		c.Env = append(os.Environ(), "KUBECONFIG="+ts.Getenv("KUBECONFIG"))
		c.Stdin = bytes.NewReader(body)
		if said, err := c.CombinedOutput(); err != nil {
			ts.Fatalf("%v: %s", err, said)
		}
	}
}

// inScript is a test that fails as its script does.
type inScript struct {
	testing.TB
	ts *testscript.TestScript
}

func (s inScript) Helper()                           {}
func (s inScript) Fatal(args ...any)                 { s.ts.Fatalf("%s", fmt.Sprint(args...)) }
func (s inScript) Fatalf(format string, args ...any) { s.ts.Fatalf(format, args...) }
func (s inScript) Errorf(format string, args ...any) { s.ts.Fatalf(format, args...) }

// onscreen NAME COMMAND is a person in a terminal, who looks at what has to be looked at
// and approves by the name NAME. The first and last screens are in review.screen and
// end.screen.
func onScreenCommand(t testing.TB) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		name, command := args[0], strings.Join(args[1:], " ")
		p := newPane(inScript{t, ts}, 120, 36, "KUBECONFIG="+ts.Getenv("KUBECONFIG"))
		p.run(command + "; echo exit=$?")
		review := p.wait("REVIEW")
		looked := time.Time{}
		p.until("the question", func(screen string) bool {
			if strings.Contains(screen, "Nothing has been changed yet.") {
				return true
			}
			if time.Since(looked) > time.Second {
				p.keys("a", "Space") // leads to what is left to look at, and marks it
				looked = time.Now()
			}
			return false
		})
		p.typeName(name)
		p.keys("Enter")
		end := p.wait("exit=0")
		p.sane()
		ts.Check(os.WriteFile(ts.MkAbs("review.screen"), []byte(review), 0o600))
		ts.Check(os.WriteFile(ts.MkAbs("end.screen"), []byte(end), 0o600))
	}
}
