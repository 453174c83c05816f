package sandbox

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// lifelineEnv is the environment variable of a program whose stdin is a pipe
// that its starter holds open: at end of file the program stops everything.
const lifelineEnv = "KUBECTL_OPERATOR_SANDBOX_LIFELINE"

// FaultAnnotation is the annotation that makes a pod fail. It may be added and, for a
// pod that has not started, removed later. Its values:
//
//	image-pull          ImagePullBackOff, the registry does not have the image
//	image-unauthorized  ImagePullBackOff, the registry wants a login
//	crash-loop          CrashLoopBackOff after five restarts, exit code 1
//	out-of-memory       the same with exit code 137, OOMKilled
//	start-error         the same with exit code 128: the program is not in the image
//	config-error        CreateContainerConfigError: a Secret is missing
//	probe               runs, and is never ready
//	pending             scheduled, its containers never created
//	exit                ended with exit code 3, for pods that are not started again
const FaultAnnotation = "kubectl-operator/sandbox-fault"

// LogAnnotation is the annotation of a pod with the text that its containers
// print. By default they print a few lines that fit the fault.
const LogAnnotation = "kubectl-operator/sandbox-log"

// stopTimeout is how long an orderly stop may take, which usually takes 0.1 s.
const stopTimeout = 10 * time.Second

// maxState is the most bytes that are read of a State; real ones have about 500.
const maxState = 64 << 10

// Options of Start.
type Options struct {
	// Binary is the program to start; empty means Find.
	Binary string
	// Dir receives all that the control plane writes; it is made with mode 0700
	// when missing. Empty means a temporary directory that is removed at the end.
	Dir string
	// Port of the API server on 127.0.0.1; 0 takes a free one.
	Port int
}

// State is where a ready control plane has its API server and files. Paths are
// absolute.
type State struct {
	// PID of the supervisor.
	PID int `json:"pid"`
	// Server is the URL of the API server, https on 127.0.0.1.
	Server string `json:"server"`
	// Kubeconfig of a user in system:masters, with a random token; mode 0600.
	Kubeconfig string `json:"kubeconfig"`
	// AuditLog of the API server; see ReadAudit.
	AuditLog string `json:"auditLog"`
	// Logs is the directory of the components' logs.
	Logs string `json:"logs"`
	// CACert and CAKey are the authority for client certificates.
	CACert string `json:"caCert"`
	CAKey  string `json:"caKey"`
	// Processes are the components' process ids by name, such as "etcd".
	Processes map[string]int `json:"processes"`
}

// Sandbox is a running control plane that ends with this process.
type Sandbox struct {
	state    State
	lifeline io.Closer
	process  *process

	mutations mutations
}

// Start starts a control plane and returns when pods can run on its node: the
// API server is ready, the node is Ready without taints, and the default
// ServiceAccount exists. ctx bounds only the start; Stop ends the control plane.
func Start(ctx context.Context, opts Options) (*Sandbox, error) {
	temporary := opts.Dir == ""
	if temporary {
		dir, err := os.MkdirTemp("", "kubectl-operator-sandbox-")
		if err != nil {
			return nil, fmt.Errorf("making a directory for the sandbox: %w", err)
		}
		opts.Dir = dir
	}
	// The read end is the program's stdin. Our end is closed by Stop or by the
	// kernel when this process is gone.
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting the sandbox: %w", err)
	}
	defer theirs.Close()
	state, p, err := launch(ctx, opts, launchMode{stdin: theirs, temporary: temporary})
	if err != nil {
		ours.Close()
		if temporary {
			os.RemoveAll(opts.Dir)
		}
		return nil, err
	}
	return &Sandbox{state: state, lifeline: ours, process: p}, nil
}

// State returns where the control plane has its API server and files.
func (s *Sandbox) State() State { return s.state }

// Kubeconfig returns the path of the administrator's kubeconfig.
func (s *Sandbox) Kubeconfig() string { return s.state.Kubeconfig }

// AuditLog returns the path of the API server's audit log.
func (s *Sandbox) AuditLog() string { return s.state.AuditLog }

// Done returns a channel that is closed when the control plane has ended for
// any reason.
func (s *Sandbox) Done() <-chan struct{} { return s.process.done }

// Err returns why the control plane ended. Call it after the channel of Done is closed.
func (s *Sandbox) Err() error { return s.process.err }

// Stop ends the control plane and waits until nothing is left of it. It may be
// called more than once.
func (s *Sandbox) Stop() {
	s.lifeline.Close()
	s.process.wait(stopTimeout)
}

// process is the running program of the control plane.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the program has ended and err is set
	err  error
}

// launchMode says how the program is started: to end with this process, or to
// outlive it.
type launchMode struct {
	stdin     *os.File // the lifeline; nil for none
	temporary bool     // the program removes the directory at its end
	detached  bool     // its own session, so that closing the terminal does not reach it
}

// launch starts the program and waits for the State, which the program writes
// to its stdout when it is ready.
func launch(ctx context.Context, opts Options, mode launchMode) (State, *process, error) {
	binary := opts.Binary
	if binary == "" {
		found, err := Find()
		if err != nil {
			return State{}, nil, err
		}
		binary = found
	}
	p, stdout, err := spawn(binary, opts, mode)
	if err != nil {
		return State{}, nil, fmt.Errorf("starting the sandbox: %w", err)
	}
	ready := make(chan State, 1)
	go func() {
		defer stdout.Close()
		if state, err := readState(stdout); err == nil {
			ready <- state
		}
	}()
	select {
	case state := <-ready:
		return state, p, nil
	case <-p.done:
		return State{}, nil, fmt.Errorf("starting the sandbox: %w", p.err)
	case <-ctx.Done():
		p.terminate()
		p.wait(stopTimeout)
		return State{}, nil, fmt.Errorf("starting the sandbox: %w", ctx.Err())
	}
}

func spawn(binary string, opts Options, mode launchMode) (*process, *os.File, error) {
	if err := os.MkdirAll(opts.Dir, 0o700); err != nil {
		return nil, nil, err
	}
	args := []string{"serve", "--dir", opts.Dir, fmt.Sprintf("--port=%d", opts.Port)}
	if mode.temporary {
		args = append(args, "--temporary")
	}
	cmd := exec.Command(binary, args...)
	cmd.Env = append(memoryEnv(), "PATH="+os.Getenv("PATH"), "TMPDIR="+os.TempDir())
	if mode.stdin != nil {
		cmd.Stdin = mode.stdin
		cmd.Env = append(cmd.Env, lifelineEnv+"=stdin")
	}
	cmd.SysProcAttr = processAttributes(mode.detached)

	log, err := os.OpenFile(filepath.Join(opts.Dir, "serve.log"), os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return nil, nil, err
	}
	// Our own pipe: Wait would close exec's, maybe unread.
	reader, writer, err := os.Pipe()
	if err != nil {
		log.Close()
		return nil, nil, err
	}
	defer writer.Close()
	cmd.Stdout, cmd.Stderr = writer, log
	if err := cmd.Start(); err != nil {
		log.Close()
		reader.Close()
		return nil, nil, err
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() {
		defer log.Close()
		p.err = ending(cmd.Wait(), log)
		close(p.done)
	}()
	return p, reader, nil
}

// memoryEnv returns the environment variables of the Go runtime about memory
// that are set here, so that they hold for the control plane too.
func memoryEnv() []string {
	var env []string
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		if value, set := os.LookupEnv(name); set {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// ending returns why the program ended: the text in its log, else its exit status.
// The log is read through its open file, because a temporary one is removed by then.
func ending(status error, log io.ReaderAt) error {
	said := make([]byte, 4096)
	n, _ := log.ReadAt(said, 0)
	text := strings.TrimPrefix(strings.TrimSpace(string(said[:n])), BinaryName+": ")
	switch {
	case text != "":
		return errors.New(text)
	case status != nil:
		return status
	}
	return errors.New("the control plane ended")
}

// wait waits until the program has ended, and kills it after limit.
func (p *process) wait(limit time.Duration) {
	select {
	case <-p.done:
	case <-time.After(limit):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

func (p *process) terminate() { _ = terminate(p.cmd.Process.Pid) }

func readState(r io.Reader) (State, error) {
	line, err := bufio.NewReader(io.LimitReader(r, maxState)).ReadBytes('\n')
	if err != nil {
		return State{}, err
	}
	return parseState(line)
}

func parseState(data []byte) (State, error) {
	var state State
	if err := json.Unmarshal(data, &state); err != nil {
		return State{}, fmt.Errorf("reading the sandbox's state: %w", err)
	}
	if state.Server == "" || state.Kubeconfig == "" {
		return State{}, errors.New("reading the sandbox's state: server or kubeconfig is missing")
	}
	return state, nil
}
