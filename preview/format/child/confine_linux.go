//go:build linux && (amd64 || arm64)

package child

import (
	"errors"
	"runtime"
	"slices"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"golang.org/x/sys/unix"
)

// confine limits memory and the size of files, then restricts this process to the
// system calls that the Go runtime needs. It returns a description of the sandbox in
// effect.
func confine(memory int64) string {
	for resource, limit := range map[int]uint64{
		unix.RLIMIT_DATA: uint64(memory), unix.RLIMIT_FSIZE: 0, unix.RLIMIT_CORE: 0,
	} {
		// A limit cannot be raised above the one there is; then that one holds.
		_ = unix.Setrlimit(resource, &unix.Rlimit{Cur: limit, Max: limit})
	}
	if err := filter(); err != nil {
		return "the kernel offers no seccomp filter"
	}
	return "seccomp: no files, no sockets, no programs"
}

// filter installs a seccomp filter on every thread. System calls that are not in the
// list, and calls of the machine's other ABI, fail with EPERM.
func filter() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := seccomp.LoadFilter(seccomp.Filter{NoNewPrivs: true, Flag: seccomp.FilterFlagTSync, Policy: policy()}); err != nil {
		return err
	}
	// The kernel reports a thread that it could not bring along as a result, not
	// as an error, and then filters none; the library does not look at it. prctl is
	// not on the list, so it fails where the filter holds.
	if err := unix.Prctl(unix.PR_GET_SECCOMP, 0, 0, 0, 0); !errors.Is(err, unix.EPERM) {
		return unix.EBUSY
	}
	return nil
}

// absent is the action for a system call that fails as if the kernel did not have it
// (ENOSYS).
const absent = seccomp.ActionErrno | seccomp.Action(unix.ENOSYS)

func policy() seccomp.Policy {
	return seccomp.Policy{DefaultAction: seccomp.ActionErrno, Syscalls: []seccomp.SyscallGroup{
		// A thread is no new process: clone passes with CLONE_THREAD. The flags of
		// clone3 are in memory, where no filter can look; the C library does without
		// it. Signals go to this process alone.
		{Names: []string{"clone3"}, Action: absent},
		{Action: seccomp.ActionAllow, Names: slices.Concat(allowedSyscalls(), archSyscalls(runtime.GOARCH)), NamesWithCondtions: []seccomp.NameWithConditions{
			{Name: "clone", Conditions: seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.BitsSet, Value: unix.CLONE_THREAD}}},
			{Name: "tgkill", Conditions: seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.Equal, Value: uint64(unix.Getpid())}}},
		}},
	}}
}

// allowedSyscalls returns the system calls that a Go program needs to compute and
// use open files: memory, threads, signals, clocks, random bytes.
func allowedSyscalls() []string {
	return []string{
		"read", "write", "close", "fstat", "fcntl", "pipe2", "eventfd2",
		"epoll_create1", "epoll_ctl", "epoll_pwait", "ppoll",
		"mmap", "munmap", "mremap", "mprotect", "madvise", "mincore", "brk",
		"futex", "sched_yield", "sched_getaffinity", "set_robust_list", "rseq", "membarrier",
		"nanosleep", "clock_nanosleep", "clock_gettime", "clock_getres", "gettimeofday",
		"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "restart_syscall",
		"getpid", "gettid", "getrusage", "uname", "getrandom",
		"setitimer", "timer_create", "timer_settime", "timer_delete",
		"exit", "exit_group",
	}
}

// archSyscalls returns the system calls that only this architecture has.
func archSyscalls(machine string) []string {
	if machine == "amd64" {
		return []string{"epoll_wait", "arch_prctl"}
	}
	return nil
}
