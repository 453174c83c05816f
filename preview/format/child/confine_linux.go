//go:build linux && (amd64 || arm64)

package child

import (
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// confine limits memory and files, then leaves this process the system calls
// that the Go runtime needs and no other. It says what held.
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

// filter installs a seccomp filter (seccomp(2), BPF) on every thread. What is
// not on the list fails with EPERM; so does the other ABI of the machine.
func filter() error {
	program := build()
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(program)
	if errno != 0 {
		return errno
	}
	if thread != 0 {
		return unix.EBUSY // a thread could not be brought along
	}
	return nil
}

// Offsets in struct seccomp_data.
const (
	offsetNumber = 0
	offsetArch   = 4
	offsetArg0   = 16 // its low half: both machines are little endian
)

const (
	deny   = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	absent = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	allow  = unix.SECCOMP_RET_ALLOW
)

func build() []unix.SockFilter {
	program := []unix.SockFilter{load(offsetArch), jump(unix.BPF_JEQ, auditArch, 1, 0), answer(deny), load(offsetNumber)}
	// A thread is no new process: clone passes with CLONE_THREAD. The flags of
	// clone3 are in memory, where no filter can look; the C library does without
	// it. Signals go to this process alone.
	program = append(program, jump(unix.BPF_JEQ, unix.SYS_CLONE3, 0, 1), answer(absent))
	program = append(program, onlyIf(unix.SYS_CLONE, unix.BPF_JSET, unix.CLONE_THREAD)...)
	program = append(program, onlyIf(unix.SYS_TGKILL, unix.BPF_JEQ, uint32(unix.Getpid()))...)
	for _, number := range slices.Concat(allowed, allowedHere) {
		program = append(program, jump(unix.BPF_JEQ, number, 0, 1), answer(allow))
	}
	return append(program, answer(deny))
}

// onlyIf allows a system call when its first argument passes a test.
func onlyIf(number uint32, test uint16, value uint32) []unix.SockFilter {
	return []unix.SockFilter{
		jump(unix.BPF_JEQ, number, 0, 4), load(offsetArg0), jump(test, value, 0, 1), answer(allow), answer(deny),
	}
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

// jump compares with value and skips instructions: yes of them, or no.
func jump(test uint16, value uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, K: value, Jt: yes, Jf: no}
}

func answer(with uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: with}
}

// allowed is what a Go program needs that computes and uses the files it has
// open: memory, threads, signals, clocks, random bytes.
var allowed = []uint32{
	unix.SYS_READ, unix.SYS_WRITE, unix.SYS_CLOSE, unix.SYS_FSTAT, unix.SYS_FCNTL, unix.SYS_PIPE2, unix.SYS_EVENTFD2,
	unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_PPOLL,
	unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MREMAP, unix.SYS_MPROTECT, unix.SYS_MADVISE, unix.SYS_MINCORE, unix.SYS_BRK,
	unix.SYS_FUTEX, unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_MEMBARRIER,
	unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_GETRES, unix.SYS_GETTIMEOFDAY,
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK, unix.SYS_RESTART_SYSCALL,
	unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_GETRUSAGE, unix.SYS_UNAME, unix.SYS_GETRANDOM,
	unix.SYS_SETITIMER, unix.SYS_TIMER_CREATE, unix.SYS_TIMER_SETTIME, unix.SYS_TIMER_DELETE,
	unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
}
