//go:build linux && (amd64 || arm64)

package child

import (
	"slices"
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// A name that a machine lacks makes the whole filter fail there, and only there.
func TestEveryAllowedCallIsOneOfItsMachine(t *testing.T) {
	for machine, info := range map[string]*arch.Info{"amd64": arch.X86_64, "arm64": arch.AARCH64} {
		for _, name := range slices.Concat([]string{"clone", "clone3", "tgkill"}, allowedSyscalls(), archSyscalls(machine)) {
			if _, ok := info.SyscallNames[name]; !ok {
				t.Errorf("%s has no system call %s", machine, name)
			}
		}
	}
}

// The filter's answers, by system call.
func TestTheFilterAnswers(t *testing.T) {
	p := policy()
	program, err := p.Assemble()
	if err != nil {
		t.Fatal(err)
	}
	machine, err := bpf.NewVM(program)
	if err != nil {
		t.Fatal(err)
	}
	here, err := arch.GetInfo("")
	if err != nil {
		t.Fatal(err)
	}
	const allow, deny, absent = unix.SECCOMP_RET_ALLOW, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM), unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	own := uint64(unix.Getpid())
	for name, tt := range map[string]struct {
		machine uint32
		number  int
		first   uint64 // argument
		want    uint32
	}{
		"read":                      {0, unix.SYS_READ, 0, allow},
		"exit_group":                {0, unix.SYS_EXIT_GROUP, 0, allow},
		"openat":                    {0, unix.SYS_OPENAT, 0, deny},
		"socket":                    {0, unix.SYS_SOCKET, 0, deny},
		"connect":                   {0, unix.SYS_CONNECT, 0, deny},
		"execve":                    {0, unix.SYS_EXECVE, 0, deny},
		"execveat":                  {0, unix.SYS_EXECVEAT, 0, deny},
		"prctl":                     {0, unix.SYS_PRCTL, 0, deny},
		"ptrace":                    {0, unix.SYS_PTRACE, 0, deny},
		"io_uring_setup":            {0, unix.SYS_IO_URING_SETUP, 0, deny},
		"kill":                      {0, unix.SYS_KILL, own, deny},
		"a signal to this process":  {0, unix.SYS_TGKILL, own, allow},
		"a signal to another":       {0, unix.SYS_TGKILL, own + 1, deny},
		"a new thread":              {0, unix.SYS_CLONE, unix.CLONE_THREAD | unix.CLONE_VM, allow},
		"a new process":             {0, unix.SYS_CLONE, unix.CLONE_VM, deny},
		"clone3":                    {0, unix.SYS_CLONE3, unix.CLONE_THREAD, absent},
		"read of another ABI":       {uint32(arch.I386.ID), unix.SYS_READ, 0, deny},
		"a number that nothing has": {0, 100_000, 0, deny},
	} {
		if tt.machine == 0 {
			tt.machine = uint32(here.ID)
		}
		if got := answer(t, machine, uint32(tt.number), tt.machine, tt.first); got != tt.want {
			t.Errorf("%s: the filter answers %#x, want %#x", name, got, tt.want)
		}
	}
	if here == arch.X86_64 {
		if got := answer(t, machine, unix.SYS_READ|uint32(arch.X32.SeccompMask), uint32(here.ID), 0); got == allow {
			t.Error("read of the x32 ABI is allowed")
		}
	}
}

// answer runs the filter on struct seccomp_data. Its words have the machine's byte
// order, and the interpreter's have the network's.
func answer(t *testing.T, machine *bpf.VM, number, abi uint32, first uint64) uint32 {
	t.Helper()
	var data []byte
	for _, word := range []uint32{number, abi, 0, 0, uint32(first), uint32(first >> 32)} {
		data = append(data, byte(word>>24), byte(word>>16), byte(word>>8), byte(word))
	}
	got, err := machine.Run(append(data, make([]byte, 64-len(data))...))
	if err != nil {
		t.Fatal(err)
	}
	return uint32(got)
}
