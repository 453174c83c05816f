package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// readyTimeout is the time limit of a start. It is long, because a loaded
// machine takes many times the usual.
const readyTimeout = 2 * time.Minute

// apiServer is the component that is started again after it was killed, as a
// kubelet does with the API server of a real cluster. The end of any other
// component is an error.
const apiServer = "kube-apiserver"

// Serve runs a control plane in opts.Dir until ctx ends, which is no error, or
// until a component ends, which is one. An API server that was ready and is
// killed with SIGKILL is started again on the same data and port, and the State
// then has its new process id.
func Serve(ctx context.Context, opts Options) error {
	if opts.Dir == "" {
		return errors.New("no directory is given; name one with --dir")
	}
	dir, err := filepath.Abs(opts.Dir)
	if err != nil {
		return fmt.Errorf("finding %s: %w", opts.Dir, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the sandbox's directory: %w", err)
	}
	l := layout(dir)
	lock, err := acquireLock(l.lock())
	if err != nil {
		return err
	}
	// The lock goes last, when nothing of ours is in the directory any more.
	defer lock.Close()
	if opts.Temporary {
		defer os.RemoveAll(dir)
	}
	if err := l.clear(); err != nil {
		return err
	}
	if err := serve(ctx, l, opts); err != nil {
		return err // what is left may tell why; the next start clears it
	}
	return l.clear()
}

func serve(ctx context.Context, l layout, opts Options) error {
	ports, release, err := reservePorts(opts.Port)
	if err != nil {
		return err
	}
	defer release()
	server := loopbackURL(ports.apiserver)
	if err := writeConfig(l, server); err != nil {
		return err
	}
	s, err := newSupervisor(l)
	if err != nil {
		return err
	}
	defer s.stop()

	bringUp, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	up := make(chan error, 1)
	if err := s.startStorage(l, ports); err != nil {
		return err
	}
	client, err := newClient(l.kubeconfig())
	if err != nil {
		return err
	}
	if err := startEgress(ctx, l, client); err != nil {
		return err
	}
	go func() { up <- waitServing(bringUp, client) }()
	if done, err := s.await(ctx, up); done {
		return err
	}
	if err := s.startControllers(l); err != nil {
		return err
	}
	go func() { up <- waitCluster(bringUp, client) }()
	if done, err := s.await(ctx, up); done {
		return err
	}
	state, err := s.writeState(server)
	if err != nil {
		return err
	}
	if err := opts.Ready(state); err != nil {
		return err
	}
	return s.keep(ctx, server)
}

// keep runs a ready control plane until ctx or a component ends. It starts a
// killed API server again.
func (s *supervisor) keep(ctx context.Context, server string) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case dead := <-s.died:
			if dead.child.name != apiServer || !dead.killed() || ctx.Err() != nil {
				return dead.err
			}
			if err := s.again(dead.child); err != nil {
				return err
			}
			if _, err := s.writeState(server); err != nil {
				return err
			}
		}
	}
}

// await waits for a step of the start. done is true if the control plane is to
// end, because of err or, without an error, because ctx ended.
func (s *supervisor) await(ctx context.Context, step <-chan error) (done bool, err error) {
	select {
	case <-ctx.Done():
		return true, nil
	case dead := <-s.died:
		return true, dead.err
	case err := <-step:
		if ctx.Err() != nil {
			return true, nil
		}
		return err != nil, err
	}
}

func (s *supervisor) startStorage(l layout, p ports) error {
	if err := s.start("etcd", etcdArgs(l, p)); err != nil {
		return err
	}
	return s.start(apiServer, apiserverArgs(l, p.apiserver, p.etcd))
}

func (s *supervisor) startControllers(l layout) error {
	if err := s.start("kube-controller-manager", controllerManagerArgs(l)); err != nil {
		return err
	}
	if err := s.start("kube-scheduler", schedulerArgs(l)); err != nil {
		return err
	}
	return s.start("run-kwok", kwokArgs(l))
}

// writeState writes the present State to its file, and returns it.
func (s *supervisor) writeState(server string) (State, error) {
	l := s.layout
	state := State{
		PID:        os.Getpid(),
		Server:     server,
		Kubeconfig: l.kubeconfig(),
		AuditLog:   l.audit(),
		Logs:       l.logs(),
		CACert:     l.cert("ca"),
		CAKey:      l.key("ca"),
		Processes:  s.processes(),
	}
	return state, writeState(l, state)
}

// ports of the servers.
type ports struct{ apiserver, etcd, etcdPeer, etcdHTTP int }

// reservePorts reserves the ports until release is called.
func reservePorts(apiserver int) (p ports, release func(), err error) {
	var held []*reservation
	release = func() {
		for _, r := range held {
			r.release()
		}
	}
	for _, want := range []struct {
		port int
		got  *int
	}{{apiserver, &p.apiserver}, {0, &p.etcd}, {0, &p.etcdPeer}, {0, &p.etcdHTTP}} {
		r, err := reservePort(want.port)
		if err != nil {
			release()
			return ports{}, nil, err
		}
		held = append(held, r)
		*want.got = r.port
	}
	return p, release, nil
}
