package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview/review/reviewtest"
)

// browserPatience bounds each answer of the browser.
const browserPatience = 60 * time.Second

// browserRequired is the environment variable with which a test that finds no browser
// fails. CI sets it wherever a browser can be installed and started.
const browserRequired = "BROWSER_REQUIRED"

// lacking ends a test for lack of a browser: with one visible line, or as a failure
// where one is required.
func lacking(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv(browserRequired) != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf("skipped: "+format, args...)
}

// chromium finds a browser. Without one, the test is skipped where none is required.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	lacking(t, "the page in a browser; no chromium is installed (set CHROMIUM)")
	return ""
}

// browserStarts is how often a browser is started that ends before it shows an
// empty tab: some do on machines that are short of what they need.
const browserStarts = 4

// browser is a headless Chromium, spoken to over a pipe in the DevTools
// protocol: JSON, a zero byte after each message.
type browser struct {
	t       *testing.T
	to      *os.File
	answers chan map[string]any
	session string
	last    int
	events  []map[string]any // all that came meanwhile
}

// startBrowser returns a browser that shows an empty tab. A browser that never
// gets that far on this machine says nothing of our page: the test ends with what
// the browser said.
func startBrowser(t *testing.T) *browser {
	t.Helper()
	var reason error
	for range browserStarts {
		b := launchBrowser(t)
		if reason = b.openTab(); reason == nil {
			return b
		}
		t.Logf("the browser is started again: %v", reason)
	}
	lacking(t, "the page in a browser; %s shows not even an empty page here: %v", chromium(t), reason)
	return nil
}

func launchBrowser(t *testing.T) *browser {
	t.Helper()
	ours, theirs := pipe(t)
	back, answers := pipe(t)
	// Not t.TempDir: a helper of the browser that ends later than it may still
	// write there, and that is no failure.
	profile, err := os.MkdirTemp("", "browser")
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t, to: theirs, answers: make(chan map[string]any, 1000)}
	cmd := exec.Command(chromium(t), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
		"--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-default-apps", "--disable-sync",
		"--disable-breakpad", "--disable-quic", "--user-data-dir="+filepath.Join(profile, "data"), "about:blank")
	cmd.ExtraFiles = []*os.File{ours, answers} // descriptors 3 and 4
	cmd.Env = append(os.Environ(), "HOME="+profile)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = ours.Close(), answers.Close()
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		_ = os.RemoveAll(profile)
	})
	go b.read(bufio.NewReader(back))
	return b
}

func (b *browser) read(messages *bufio.Reader) {
	defer close(b.answers)
	for {
		message, err := messages.ReadBytes(0)
		if err != nil {
			return
		}
		var answer map[string]any
		if json.Unmarshal(bytes.TrimSuffix(message, []byte{0}), &answer) == nil {
			b.answers <- answer
		}
	}
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}

// call sends one command and returns its result.
func (b *browser) call(method string, params map[string]any) map[string]any {
	b.t.Helper()
	result, err := b.try(method, params)
	if err != nil {
		b.t.Fatal(err)
	}
	return result
}

func (b *browser) try(method string, params map[string]any) (map[string]any, error) {
	b.last++
	message := map[string]any{"id": b.last, "method": method, "params": params}
	if b.session != "" {
		message["sessionId"] = b.session
	}
	data, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	if _, err := b.to.Write(append(data, 0)); err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	for {
		answer, err := b.next(method)
		if err != nil {
			return nil, err
		}
		if id, ok := answer["id"].(float64); !ok || int(id) != b.last {
			b.events = append(b.events, answer)
			continue
		}
		if answer["error"] != nil {
			return nil, fmt.Errorf("%s: %v", method, answer["error"])
		}
		result, _ := answer["result"].(map[string]any)
		return result, nil
	}
}

func (b *browser) next(waiting string) (map[string]any, error) {
	select {
	case answer, ok := <-b.answers:
		if !ok {
			return nil, fmt.Errorf("the browser ended during %s", waiting)
		}
		return answer, nil
	case <-time.After(browserPatience):
		return nil, fmt.Errorf("the browser does not answer %s", waiting)
	}
}

// openTab opens an empty tab, which all later calls are about.
func (b *browser) openTab() error {
	target, err := b.try("Target.createTarget", map[string]any{"url": "about:blank"})
	if err != nil {
		return err
	}
	attached, err := b.try("Target.attachToTarget", map[string]any{"targetId": target["targetId"], "flatten": true})
	if err != nil {
		return err
	}
	b.session, _ = attached["sessionId"].(string)
	for _, domain := range []string{"Runtime", "Log", "Network", "Page"} {
		if _, err := b.try(domain+".enable", nil); err != nil {
			return err
		}
	}
	return nil
}

// open loads a file, and waits until it is loaded. What the tab did before is
// forgotten.
func (b *browser) open(path string) {
	b.t.Helper()
	b.events = nil
	b.call("Page.navigate", map[string]any{"url": "file://" + path})
	for !b.saw("Page.loadEventFired") {
		event, err := b.next("Page.loadEventFired")
		if err != nil {
			b.t.Fatal(err)
		}
		b.events = append(b.events, event)
	}
}

func (b *browser) saw(method string) bool {
	for _, event := range b.events {
		if event["method"] == method {
			return true
		}
	}
	return false
}

// eval runs a script and returns its value as text; promises are waited for.
func (b *browser) eval(script string) string {
	b.t.Helper()
	result := b.call("Runtime.evaluate", map[string]any{"expression": script, "returnByValue": true, "awaitPromise": true})
	if result["exceptionDetails"] != nil {
		b.t.Fatalf("%s: %v", script, result["exceptionDetails"])
	}
	value, _ := result["result"].(map[string]any)
	return fmt.Sprint(value["value"])
}

// search types into the page's search and returns what it says of the result.
func (b *browser) search(text string) string {
	b.t.Helper()
	quoted, _ := json.Marshal(text)
	return b.eval(`new Promise(function (done) {
		var s = document.getElementById('search'); s.value = ` + string(quoted) + `; s.dispatchEvent(new Event('input'));
		setTimeout(function () { done(document.getElementById('shown').textContent); }, 400);
	})`)
}

// quiet asserts that the page logged nothing and asked for nothing but itself.
func (b *browser) quiet(page string) {
	b.t.Helper()
	for _, event := range b.events {
		params, _ := event["params"].(map[string]any)
		switch event["method"] {
		case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded":
			b.t.Errorf("the console says %v", params)
		case "Network.requestWillBeSent":
			request, _ := params["request"].(map[string]any)
			if request["url"] != "file://"+page {
				b.t.Errorf("the page asked for %v", request["url"])
			}
		}
	}
	if !b.saw("Network.requestWillBeSent") {
		b.t.Error("not even the page itself was seen to be asked for")
	}
}

func pageFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "review.html")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSlowPageWorksInABrowser(t *testing.T) {
	slowtest.Skip(t, "tests in a browser")
	path := pageFile(t, write(t, manyObjects(t, 5000), Options{Format: HTML}))
	b := startBrowser(t)
	started := time.Now()
	b.open(path)
	t.Logf("5,000 objects loaded in %v", time.Since(started).Round(time.Millisecond))
	for _, step := range []struct{ name, got, want string }{
		{"all entries are counted", b.eval(`document.getElementById('shown').textContent`), "5019 entries"},
		{"a word finds its object", b.search("needle4711"), "1 of 5019 entries"},
		{"only that is visible", b.eval(`document.querySelectorAll('.item:not([hidden])').length + ' ' + document.querySelectorAll('section:not([hidden])').length`), "1 1"},
		{"words are all needed, in any case", b.search("NEEDLE4711 settings-4711"), "1 of 5019 entries"},
		{"nothing is found", b.search("no such thing"), "0 of 5019 entries"},
		{"markup is text", b.search("<b>old</b>"), "5000 of 5019 entries"},
		{"an empty search shows all", b.search(""), "5019 entries"},
		{"unfolding opens", b.eval(`document.getElementById('open').click(), document.querySelectorAll('details.item[open]').length`), "5002"},
		{"folding closes", b.eval(`document.getElementById('close').click(), document.querySelectorAll('details.item[open]').length`), "0"},
		{"it starts as the system is", b.eval(`String(document.documentElement.dataset.theme)`), "undefined"},
		{"the toggle is the other", b.eval(`document.getElementById('theme').click(), document.documentElement.dataset.theme + getComputedStyle(document.body).backgroundColor`), "darkrgb(20, 23, 26)"},
		{"and back", b.eval(`document.getElementById('theme').click(), document.documentElement.dataset.theme + getComputedStyle(document.body).backgroundColor`), "lightrgb(255, 255, 255)"},
		{"a rule is opened by its link", b.eval(`document.querySelector('a[href="#rule-rbac-secrets-read"]').click(), document.getElementById('rule-rbac-secrets-read').open`), "true"},
	} {
		if step.got != step.want {
			t.Errorf("%s: %q, want %q", step.name, step.got, step.want)
		}
	}
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]any{{"name": "prefers-color-scheme", "value": "dark"}}})
	if got := b.eval(`delete document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor`); got != "rgb(20, 23, 26)" {
		t.Errorf("where the system is dark the page is %s", got)
	}
	b.quiet(path)
}

// On a telephone nothing is wider than the screen, and the tables are cards.
func TestSlowPageFitsATelephone(t *testing.T) {
	slowtest.Skip(t, "tests in a browser")
	path := pageFile(t, write(t, reviewtest.Plans(t)["upgrade"], Options{Format: HTML}))
	b := startBrowser(t)
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 375, "height": 700, "deviceScaleFactor": 2, "mobile": true})
	b.open(path)
	if got := b.eval(`String(document.documentElement.scrollWidth)`); got != "375" {
		t.Errorf("the page is %s pixels wide, want 375", got)
	}
	if got := b.eval(`getComputedStyle(document.querySelector('#access td')).display`); got != "block" {
		t.Errorf("a cell of the access table is displayed as %s", got)
	}
	b.quiet(path)
}

func TestSlowHostilePageDoesNothingInABrowser(t *testing.T) {
	slowtest.Skip(t, "tests in a browser")
	b := startBrowser(t)
	for _, text := range []string{reviewtest.Evil, `"><img src=https://evil.example/x onerror=alert(1)><script>document.title='owned'</script>`, `</script><script>document.title='owned'</script>`} {
		path := pageFile(t, write(t, reviewtest.HostilePlan(text), Options{Format: HTML}))
		b.open(path)
		if got := b.eval(`document.title + document.scripts.length + document.images.length`); got == "" || got[len(got)-2:] != "10" || got[:5] == "owned" {
			t.Errorf("%.30q: %s", text, got)
		}
		b.quiet(path)
	}
}

// The policy must hold where the escaping would not: a script that somehow got
// in does not run.
func TestSlowPolicyHoldsInABrowser(t *testing.T) {
	slowtest.Skip(t, "tests in a browser")
	text := write(t, reviewtest.Plans(t)["fresh-install"], Options{Format: HTML})
	const smuggled = `<main><script>document.title='owned'</script><img src="https://evil.example/x" onerror="document.title='owned'"><p style="position:fixed">`
	path := pageFile(t, string(bytes.Replace([]byte(text), []byte("<main>"), []byte(smuggled), 1)))
	b := startBrowser(t)
	b.open(path)
	if got := b.eval(`document.title`); got != "install mongodb 1.10.0" {
		t.Errorf("the smuggled script ran: %s", got)
	}
	if !b.saw("Log.entryAdded") {
		t.Error("the browser did not say that it refused something")
	}
	for _, event := range b.events {
		params, _ := event["params"].(map[string]any)
		if event["method"] == "Network.responseReceived" && params["type"] != "Document" {
			t.Errorf("something was loaded: %v", params["response"])
		}
	}
}
