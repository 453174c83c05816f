package child

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_X86_64

// allowedHere are the names that only this machine has.
var allowedHere = []uint32{unix.SYS_EPOLL_WAIT, unix.SYS_ARCH_PRCTL}
