package k8s

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/term"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// loginTimeout is how long a credential plugin may take that asks a user, as for a login
// in a browser.
const loginTimeout = 10 * time.Minute

// credentialPlugin is the program that a kubeconfig runs to get credentials.
type credentialPlugin struct {
	name    string // empty for none
	timeout time.Duration
}

// credentialPluginOf returns the credential plugin of a connection, and how long it may
// take: as one request, or longer if it may ask the user.
func credentialPluginOf(config *rest.Config, request time.Duration) credentialPlugin {
	exec := config.ExecProvider
	if exec == nil {
		return credentialPlugin{}
	}
	p := credentialPlugin{name: filepath.Base(exec.Command), timeout: request}
	if exec.InteractiveMode != clientcmdapi.NeverExecInteractiveMode && term.IsTerminal(int(os.Stdin.Fd())) {
		p.timeout = loginTimeout
	}
	return p
}

// within calls first, which contacts the API server for the first time. The client library
// waits for the plugin whatever becomes of the context and of the time limit of a request;
// one that hangs is left behind.
func (p credentialPlugin) within(ctx context.Context, first func(context.Context) error) error {
	if p.name == "" {
		return first(ctx)
	}
	done := tasks.Async(func() error { return first(ctx) })
	// The request itself takes time, too: its own error is the better one.
	timer := time.NewTimer(p.timeout + p.timeout/4)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return &preview.Refusal{Reason: preview.ReasonUnavailable, Message: fmt.Sprintf(
			"the program %s, which the kubeconfig runs to get credentials, has not ended within %s; run it by itself to see what it waits for", p.name, p.timeout)}
	}
}
