package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Components of a control plane, as [State] names them.
const (
	apiServer = "kube-apiserver"
	storage   = "etcd"
)

// RestartAPIServer kills the API server (as kill -9 does) and returns when the
// next one, on the same data and port, is ready. Requests and watches in flight
// end without an answer.
func (s *Sandbox) RestartAPIServer(ctx context.Context) error {
	dir := filepath.Dir(s.state.Kubeconfig)
	before, err := s.component(dir, apiServer)
	if err != nil {
		return fmt.Errorf("restarting the API server: %w", err)
	}
	if err := kill(before); err != nil {
		return fmt.Errorf("restarting the API server (process %d): %w", before, err)
	}
	for {
		now, err := s.component(dir, apiServer)
		if err != nil {
			return fmt.Errorf("restarting the API server: %w", err)
		}
		if now != before {
			return s.awaitServing(ctx)
		}
		if err := pause(ctx); err != nil {
			return fmt.Errorf("restarting the API server: %w", err)
		}
	}
}

// FreezeStorage stops the process of etcd: until resume is called, every
// request that needs it hangs, up to the API server's own time limits. It
// returns when etcd has stopped, which on a busy machine takes a while.
func (s *Sandbox) FreezeStorage(ctx context.Context) (resume func() error, err error) {
	pid, err := s.component(filepath.Dir(s.state.Kubeconfig), storage)
	if err == nil {
		err = freeze(pid)
	}
	for err == nil && !frozen(pid) {
		err = pause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("freezing etcd: %w", err)
	}
	return func() error { return thaw(pid) }, nil
}

// component returns the present process id of a component, such as etcd.
func (s *Sandbox) component(dir, name string) (int, error) {
	status, err := readStatus(dir)
	if err != nil {
		return 0, err
	}
	pid := status.State.Processes[name]
	if pid == 0 {
		return 0, fmt.Errorf("%s does not run", name)
	}
	return pid, nil
}

// awaitServing waits until /readyz succeeds, which includes all that the API
// server rebuilds when it starts.
func (s *Sandbox) awaitServing(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", s.state.Kubeconfig)
	if err != nil {
		return fmt.Errorf("reading the sandbox's kubeconfig: %w", err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	for {
		last := askReady(ctx, client, s.state.Server+"/readyz")
		if last == nil {
			return nil
		}
		if err := pause(ctx); err != nil {
			return fmt.Errorf("waiting for the API server: %w; the last answer was: %w", err, last)
		}
	}
}

func askReady(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}
