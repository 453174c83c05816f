package controlplane

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// reservation keeps a port of 127.0.0.1 free for a child process.
type reservation struct {
	fd   int
	port int
}

// reservePort binds a port without listening on it; 0 takes a free one. No
// other process gets the port while it is bound, so that two sandboxes that
// start at once get different ones. The child can bind it nevertheless because
// both ask for SO_REUSEPORT (etcd --socket-reuse-port, kube-apiserver
// --permit-port-sharing), and it gets every connection because only it listens.
func reservePort(port int) (*reservation, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, fmt.Errorf("reserving a port: %w", err)
	}
	unix.CloseOnExec(fd)
	r := &reservation{fd: fd}
	if err := r.bind(port); err != nil {
		r.release()
		return nil, fmt.Errorf("reserving port %d of 127.0.0.1: %w", port, err)
	}
	return r, nil
}

func (r *reservation) bind(port int) error {
	if err := unix.SetsockoptInt(r.fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		return err
	}
	if err := unix.Bind(r.fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return err
	}
	name, err := unix.Getsockname(r.fd)
	if err != nil {
		return err
	}
	address, ok := name.(*unix.SockaddrInet4)
	if !ok {
		return fmt.Errorf("the socket has an address of type %T", name)
	}
	r.port = address.Port
	return nil
}

func (r *reservation) release() { _ = unix.Close(r.fd) }
