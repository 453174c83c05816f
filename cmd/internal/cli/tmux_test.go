package cli_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// patience is how long to wait for a screen.
const patience = 2 * time.Minute

// pane is a shell in a real terminal.
type pane struct {
	t      testing.TB
	socket string
	dir    string
	box    *sandbox.Sandbox // nil without a cluster
}

// newPane starts tmux with a shell in an empty directory, or skips when there
// is no tmux: in CI there must be.
func newPane(t testing.TB, width, height int, env ...string) *pane {
	t.Helper()
	slowtest.Skip(t, "tests in a terminal")
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("skipped: tmux is not installed")
	}
	p := &pane{t: t, dir: t.TempDir()}
	p.socket = filepath.Join(p.dir, "tmux")
	args := []string{"-S", p.socket, "-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), "-c", p.dir}
	// CI is set where this runs, and would say that no one is there to ask.
	for _, pair := range append(env, "HOME="+p.dir, "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "CI=", "PATH="+os.Getenv("PATH")) {
		args = append(args, "-e", pair)
	}
	cmd := exec.Command("tmux", append(args, "sh")...)
	cmd.Env = append(os.Environ(), "LANG=C.UTF-8", "LC_ALL=C.UTF-8")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("tmux: %v\n%s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", p.socket, "kill-server").Run() })
	p.run("echo rea''dy")
	p.wait("ready")
	return p
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", p.socket}, args...)...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// keys presses named keys; text types literally.
func (p *pane) keys(names ...string) { p.tmux(append([]string{"send-keys"}, names...)...) }
func (p *pane) text(s string)        { p.tmux("send-keys", "-l", s) }
func (p *pane) run(command string)   { p.text(command); p.keys("Enter") }

func (p *pane) screen() string { return p.tmux("capture-pane", "-p") }

// until polls the screen, and fails with it when patience ends. A terminal takes a frame
// in pieces, and a capture may fall between two: it returns the last capture that still is
// ok, once the screen stands still (a screen that moves on by itself is waited for a few
// times only).
func (p *pane) until(what string, ok func(screen string) bool) string {
	p.t.Helper()
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(30 * time.Millisecond)
	defer tick.Stop()
	for {
		screen := p.screen()
		if ok(screen) {
			for range 5 {
				<-tick.C
				next := p.screen()
				if next == screen || !ok(next) {
					break
				}
				screen = next
			}
			return screen
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("the screen never showed %s:\n%s", what, screen)
		}
		<-tick.C
	}
}

func (p *pane) wait(marker string) string {
	p.t.Helper()
	return p.until(fmt.Sprintf("%q", marker), func(s string) bool { return strings.Contains(s, marker) })
}

// fits checks that every line is within the terminal, and that there is one
// for each row.
func (p *pane) fits(width, height int) {
	p.t.Helper()
	lines := strings.Split(strings.TrimSuffix(p.screen(), "\n"), "\n")
	if len(lines) != height {
		p.t.Errorf("%d lines on a screen of %d", len(lines), height)
	}
	for _, line := range lines {
		if n := len([]rune(line)); n > width {
			p.t.Errorf("%d columns on a screen of %d: %s", n, width, line)
		}
	}
}

// press repeats a key until the screen shows what it leads to: keys that come
// before CONFIRM was quiet for a moment are swallowed. On a busy machine an answer takes
// seconds, and a key too many would be read by what comes after it.
func (p *pane) press(key, marker string) {
	p.t.Helper()
	pressed := time.Time{}
	p.until(fmt.Sprintf("%q after %s", marker, key), func(screen string) bool {
		if strings.Contains(screen, marker) {
			return true
		}
		if time.Since(pressed) > 4*time.Second {
			p.keys(key)
			pressed = time.Now()
		}
		return false
	})
}

// typeName answers CONFIRM. Keys that come before the screen was quiet are
// swallowed, so it types until the answer is there.
func (p *pane) typeName(name string) {
	p.t.Helper()
	typed := time.Time{}
	p.until("> "+name, func(screen string) bool {
		if strings.Contains(screen, "> "+name) {
			return true
		}
		if time.Since(typed) > 2*time.Second {
			p.keys("C-u")
			p.text(name)
			typed = time.Now()
		}
		return false
	})
}

// sane checks that the shell has its terminal back: echo, canonical input, the
// normal screen.
func (p *pane) sane() {
	p.t.Helper()
	p.run("stty -a | tr ' ;' '\\n\\n' | grep -cx -e echo -e icanon -e isig; echo state=$?")
	screen := p.wait("state=0")
	if !regexp.MustCompile(`(?m)^(# )?3$`).MatchString(screen) { // behind the prompt, where that came late
		p.t.Errorf("the terminal is not as it was:\n%s", screen)
	}
	if on := p.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}"); strings.TrimSpace(on) != "0 1" {
		p.t.Errorf("alternate screen and cursor: %s, want 0 1", on)
	}
}

// installer is a pane with its own cluster and a catalog in a registry.
func installer(t *testing.T, width, height int) *pane {
	t.Helper()
	slowtest.Skip(t, "tests in a terminal")
	box := sandboxtest.Borrow(t)
	server := httptest.NewServer(source.NewRegistry())
	t.Cleanup(server.Close)
	p := newPane(t, width, height, "KUBECONFIG="+box.Kubeconfig())
	catalog := filepath.Join(p.dir, "cat")
	if err := pushCatalog(t.Context(), strings.TrimPrefix(server.URL, "http://"), filepath.Join(root(t), "testdata", "bundles"),
		filepath.Join(root(t), "testdata", "catalogs", "demo"), catalog); err != nil {
		t.Fatal(err)
	}
	p.box = box
	return p
}

const installCandidate = "kubectl-operator install mongodb --catalog ./cat --channel candidate --plain-http; echo exit=$?"

// A person reviews, goes back, approves and watches, in two sizes.
func TestTerminalInstallOnTheScreen(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{120, 36}, {80, 24}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			p := installer(t, size[0], size[1])
			p.run(installCandidate)
			p.wait("CRITICAL")
			p.fits(size[0], size[1])

			p.keys("a") // something is left to look at: it leads there
			p.wait("rbac-secrets-read")
			p.fits(size[0], size[1])
			p.keys("Space")
			p.keys("a")
			p.wait("Nothing has been changed yet.")
			p.fits(size[0], size[1])
			p.press("Escape", "REVIEW")
			for _, tab := range []string{"3", "4", "5", "6", "1"} {
				p.keys(tab)
				p.until("tab "+tab, func(s string) bool { return strings.Contains(s, "["+tab+" ") })
				p.fits(size[0], size[1])
			}
			p.keys("a")
			p.wait("Nothing has been changed yet.")
			p.keys("Enter") // no answer yet: nothing happens
			p.typeName("mongodb")
			p.keys("Enter")
			p.wait("DONE")
			p.fits(size[0], size[1])
			p.keys("q")
			screen := p.wait("exit=0")
			for _, want := range []string{"mongodb 1.11.0", "sha256:", "rollback"} {
				if !strings.Contains(screen, want) {
					t.Errorf("the summary lacks %q:\n%s", want, screen)
				}
			}
			p.sane()
			p.run("clear; kubectl-operator status mongodb; echo exit=$?")
			p.wait("exit=0")
		})
	}
}

// However a review ends without an answer, nothing is applied and the shell
// is as it was.
func TestTerminalLeavingTheReviewAppliesNothing(t *testing.T) {
	t.Parallel()
	p := installer(t, 120, 36)
	confirm := func() {
		p.keys("a", "Space", "a")
		p.wait("Nothing has been changed yet.")
	}
	for name, c := range map[string]struct {
		leave func()
		exit  string
	}{
		"q":                             {func() { p.keys("q") }, "exit=2"},
		"ctrl+c":                        {func() { p.keys("C-c") }, "exit=2"},
		"ctrl+c on CONFIRM":             {func() { confirm(); p.keys("C-c") }, "exit=2"},
		"SIGINT":                        {func() { sendSignal(t, "-INT", p.installing()) }, "exit=2"},
		"SIGTERM":                       {func() { sendSignal(t, "-TERM", p.installing()) }, "exit=2"},
		"SIGHUP":                        {func() { sendSignal(t, "-HUP", p.installing()) }, "exit=2"},
		"SIGTERM on CONFIRM":            {func() { confirm(); sendSignal(t, "-TERM", p.installing()) }, "exit=2"},
		"SIGINT with the answer typed":  {func() { confirm(); p.typeName("mongodb"); sendSignal(t, "-INT", p.installing()) }, "exit=2"},
		"SIGTERM with the answer typed": {func() { confirm(); p.typeName("mongodb"); sendSignal(t, "-TERM", p.installing()) }, "exit=2"},
		"SIGHUP with the answer typed":  {func() { confirm(); p.typeName("mongodb"); sendSignal(t, "-HUP", p.installing()) }, "exit=2"},
		"resized to a handful": {func() {
			p.tmux("resize-window", "-x", "30", "-y", "8")
			p.wait("too small")
			p.tmux("resize-window", "-x", "120", "-y", "36")
			p.wait("CRITICAL")
			p.keys("q")
		}, "exit=2"},
	} {
		t.Run(name, func(t *testing.T) {
			p.t = t
			p.run("clear; " + installCandidate)
			p.wait("CRITICAL")
			c.leave()
			screen := p.wait(c.exit)
			if !strings.Contains(strings.ToLower(screen), "nothing was applied") {
				t.Errorf("nobody says that nothing was applied:\n%s", screen)
			}
			// An approval is not handed out before everything was reviewed.
			if offered := strings.Contains(screen, "approve without the screen"); strings.HasPrefix(name, "ctrl+c") && offered != (name == "ctrl+c on CONFIRM") || name == "q" && (offered || !strings.Contains(screen, "review again")) {
				t.Errorf("the command that approves is offered: %t\n%s", offered, screen)
			}
			p.sane()
			p.run("clear")
			p.until("an empty screen", func(s string) bool { return !strings.Contains(s, "exit=") })
		})
	}
	t.Run("a request from a pipe, and keys from the terminal", func(t *testing.T) {
		p.t = t
		request := "{apiVersion: kubectl-operator/v1alpha1, kind: Request, metadata: {name: mongodb, namespace: mongodb}, spec: {package: {name: mongodb, channels: [candidate]}}}"
		if err := os.WriteFile(filepath.Join(p.dir, "request.yaml"), []byte(request), 0o600); err != nil {
			t.Fatal(err)
		}
		p.run("clear; cat request.yaml | kubectl-operator install -f - --catalog ./cat --plain-http; echo exit=$?")
		p.wait("CRITICAL")
		confirm()
		p.keys("C-c")
		p.wait("exit=2")
		p.sane()
	})
	if made := sandboxtest.Mutations(t, p.box, sandboxtest.Admin); len(made) > 1 { // the sandbox's own node
		t.Errorf("%d requests were persisted: %v", len(made), made)
	}
}

func sendSignal(t testing.TB, name, pid string) {
	t.Helper()
	if out, err := exec.Command("kill", name, pid).CombinedOutput(); err != nil {
		t.Fatalf("kill %s: %v\n%s", name, err, out)
	}
}

// Digests that do not fit are not approved.
func TestTerminalSmallTerminalsReadButDoNotApprove(t *testing.T) {
	t.Parallel()
	p := installer(t, 40, 12)
	p.run(installCandidate)
	p.wait("C1")
	p.fits(40, 12)
	p.press("n", "0 to review") // long evidence is scrolled through before it is marked
	p.keys("a")
	p.wait("needs a bigger window")
	p.text("mongodb")
	p.keys("Enter")
	p.wait("needs a bigger window")
	p.keys("C-c")
	p.wait("exit=2")
}
