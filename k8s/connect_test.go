package k8s_test

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

func TestClusterTargetIdentifiesClusterAndUser(t *testing.T) {
	c := admin(t)
	target, err := c.Target(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	namespace, err := c.Get(t.Context(), preview.Ref{APIVersion: "v1", Kind: "Namespace", Name: "kube-system"})
	if err != nil {
		t.Fatal(err)
	}
	if uid, _ := pin(namespace); target.Identity != uid || uid == "" {
		t.Errorf("identity %q, want the uid of kube-system, %q", target.Identity, uid)
	}
	if target.User != sandboxtest.Admin || target.Version != "v1.37.2" || !strings.HasPrefix(target.Server, "https://127.0.0.1:") || target.Context == "" {
		t.Errorf("got %+v", target)
	}
	if !slices.Contains(target.Groups, "system:authenticated") {
		t.Errorf("groups are %q", target.Groups)
	}
}

func TestClusterTargetIsForbiddenToThoseWhoMayNotReadKubeSystem(t *testing.T) {
	c := connect(t, sandboxtest.User(t, sandboxtest.Start(t), unique("user")))
	_, err := c.Target(t.Context())
	_ = requireReason(t, err, preview.ReasonForbidden)
}

func TestAnAPIServerThatDoesNotAnswerIsNamedWhileTheUserWaits(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections, and no more
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	text := "{apiVersion: v1, kind: Config, current-context: prod-eu-1, contexts: [{name: prod-eu-1, context: {cluster: c, user: u}}], users: [{name: u, user: {}}], clusters: [{name: c, cluster: {server: 'https://" + silent.Addr().String() + "'}}]}"
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 1)
	_, err = k8s.Connect(t.Context(), k8s.Options{
		Kubeconfig: kubeconfig, RequestTimeout: 200 * time.Millisecond,
		AnswerPatience: time.Millisecond, Waiting: func(line string) { said <- line },
	})
	if err == nil {
		t.Error("a server that answers nothing was connected to")
	}
	want := "no answer from https://" + silent.Addr().String() + " (context prod-eu-1) for 1ms, waiting up to 200ms"
	if line := <-said; !strings.HasPrefix(line, want) {
		t.Errorf("said %q, want %q", line, want)
	}
}

func TestConnectSaysInOneSentenceWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := closed.Addr().String()
	closed.Close()
	nowhere := "{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}], users: [{name: u, user: {token: hunter2}}], clusters: [{name: c, cluster: {server: 'https://" + address + "'}}]}"
	for _, test := range []struct {
		name, kubeconfig, want string
		reason                 preview.Reason
	}{
		{"no kubeconfig anywhere", "", "no kubeconfig", ""},
		{"a file that does not exist", filepath.Join(dir, "missing"), "no such file", ""},
		{"a file that is none", write("broken", "{{{"), "reading the kubeconfig", ""},
		{"a kubeconfig without clusters", write("empty", "{apiVersion: v1, kind: Config}"), "no kubeconfig", ""},
		{"a context that does not exist", write("context", strings.Replace(nowhere, "current-context: c", "current-context: other", 1)), "specified context: other", ""},
		{"no context is current", write("current", strings.Replace(nowhere, "current-context: c, ", "", 1)), "no current context", ""},
		{"a server that does not answer", write("nowhere", nowhere), "connecting to https://" + address, preview.ReasonUnavailable},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", filepath.Join(dir, "none-here"))
			t.Setenv("KUBERNETES_MASTER", "")
			_, err := k8s.Connect(t.Context(), k8s.Options{Kubeconfig: test.kubeconfig, RequestTimeout: time.Second})
			if err == nil || !strings.Contains(err.Error(), test.want) || preview.ReasonOf(err) != test.reason {
				t.Fatalf("got %v, want %q and reason %q", err, test.want, test.reason)
			}
			if strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("not one harmless line: %q", err)
			}
		})
	}
}

func TestTheServerIsShownWithoutCredentials(t *testing.T) {
	// The address is one that nothing listens on, so that the error shows it.
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := "{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c}}], clusters: [{name: c, cluster: {server: 'https://user:hunter2@127.0.0.1:1/path?token=hunter2'}}]}"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := k8s.Connect(t.Context(), k8s.Options{Kubeconfig: path})
	_ = requireReason(t, err, preview.ReasonUnavailable)
	if text := err.Error(); strings.Contains(text, "hunter2") || !strings.Contains(text, "https://127.0.0.1:1/path") {
		t.Errorf("got %q", text)
	}
}

func TestClusterConnectWithATokenNobodyKnowsIsUnauthorized(t *testing.T) {
	data, err := os.ReadFile(sandboxtest.Start(t).Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	for i, line := range lines {
		if before, _, ok := strings.Cut(line, "token:"); ok {
			lines[i] = before + "token: unknown"
		}
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = k8s.Connect(t.Context(), k8s.Options{Kubeconfig: path})
	_ = requireReason(t, err, preview.ReasonUnauthorized)
}
