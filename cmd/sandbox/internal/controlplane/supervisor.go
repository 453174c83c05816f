package controlplane

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/kubectl-operator/kubectl-operator/cmd/sandbox/internal/lifeline"
)

// stopTimeout is how long children may take to end after their lifeline has ended.
const stopTimeout = 2 * time.Second

// logTail is how many bytes of a failed component's log are in the error.
const logTail = 1500

// supervisor runs the components as child processes.
type supervisor struct {
	layout  layout
	program string // this executable
	died    chan death
	running sync.WaitGroup
	// children is only used by the goroutine that starts and stops.
	children []*child
}

type child struct {
	name     string
	args     []string
	cmd      *exec.Cmd
	lifeline io.Closer
}

// death is the end of a child, with its error.
type death struct {
	child *child
	err   error
}

// killed reports whether the child was ended by SIGKILL, which comes from outside: no
// process ends that way by its own fault.
func (d death) killed() bool {
	status, ok := d.child.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

func newSupervisor(l layout) (*supervisor, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	return &supervisor{layout: l, program: program, died: make(chan death, 8)}, nil
}

// start runs this program under the name of a component. The component writes to its own
// log file, and ends when our end of its stdin is closed.
func (s *supervisor) start(name string, args []string) error {
	log, err := os.OpenFile(s.logFile(name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("starting %s: %w", name, err)
	}
	defer log.Close() // the child has its own descriptor

	cmd := exec.Command(s.program)
	cmd.Args = append([]string{name}, args...)
	cmd.Stdout, cmd.Stderr = log, log
	// Not our environment: etcd takes settings from ETCD_*, client-go and kwok
	// from the home directory, and proxies are none of the sandbox's business.
	// The memory settings of the Go runtime hold for the components.
	cmd.Env = []string{
		"HOME=" + s.layout.config(),
		"PATH=" + os.Getenv("PATH"),
		lifeline.Env + "=stdin",
	}
	if name != apiServer {
		// One thread serves timers and watches for less than several that wake each other: that
		// halves what an idle control plane takes. The API server answers requests in parallel.
		cmd.Env = append(cmd.Env, "GOMAXPROCS=1")
	}
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		if value, set := os.LookupEnv(name); set {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	// Its own process group: Ctrl-C at the terminal reaches only the front end,
	// which then stops everything in order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("starting %s: %w", name, err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", name, err)
	}
	c := &child{name: name, args: args, cmd: cmd, lifeline: stdin}
	s.children = append(s.children, c)
	s.running.Go(func() {
		err := cmd.Wait()
		s.died <- death{c, fmt.Errorf("%s ended: %w; its log ends with:\n%s", name, exitError(err), s.tail(name))}
	})
	return nil
}

// again starts a component that has ended once more, with the same ports and data.
func (s *supervisor) again(dead *child) error {
	_ = dead.lifeline.Close()
	s.children = slices.DeleteFunc(s.children, func(c *child) bool { return c == dead })
	return s.start(dead.name, dead.args)
}

// processes returns the process ids of the running components, by name.
func (s *supervisor) processes() map[string]int {
	pids := map[string]int{}
	for _, c := range s.children {
		pids[c.name] = c.cmd.Process.Pid
	}
	return pids
}

func exitError(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}

// stop ends all children, in the reverse order of their start, and waits for
// them. It kills those that take too long.
func (s *supervisor) stop() {
	for i := len(s.children) - 1; i >= 0; i-- {
		_ = s.children[i].lifeline.Close()
	}
	done := make(chan struct{})
	go func() { s.running.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(stopTimeout):
		for _, c := range s.children {
			_ = c.cmd.Process.Kill()
		}
		<-done
	}
}

func (s *supervisor) logFile(name string) string {
	return filepath.Join(s.layout.logs(), name+".log")
}

func (s *supervisor) tail(name string) string {
	f, err := os.Open(s.logFile(name))
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > logTail {
		_, _ = f.Seek(-logTail, io.SeekEnd)
	}
	data, _ := io.ReadAll(io.LimitReader(f, logTail))
	return strings.TrimSpace(string(data))
}
