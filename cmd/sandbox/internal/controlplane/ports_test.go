package controlplane

import (
	"context"
	"fmt"
	"net"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestReservePort(t *testing.T) {
	r, err := reservePort(0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.release()
	address := fmt.Sprintf("127.0.0.1:%d", r.port)

	t.Run("keeps others away", func(t *testing.T) {
		if listener, err := net.Listen("tcp", address); err == nil {
			listener.Close()
			t.Errorf("listening on %s succeeded", address)
		}
	})
	t.Run("lets in a child that shares the port", func(t *testing.T) {
		shared := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
			var inner error
			err := c.Control(func(fd uintptr) {
				inner = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
			})
			if err != nil {
				return err
			}
			return inner
		}}
		listener, err := shared.Listen(context.Background(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		listener.Close()
	})
	t.Run("refuses a port on which another process listens", func(t *testing.T) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		if r, err := reservePort(listener.Addr().(*net.TCPAddr).Port); err == nil {
			r.release()
			t.Error("want an error")
		}
	})
}
