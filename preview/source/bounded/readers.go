package bounded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ReadErrors keeps the first error of its reader other than io.EOF, so that after a
// failed copy it is known whether reading or writing failed.
type ReadErrors struct {
	Reader io.Reader
	Err    error
}

func (k *ReadErrors) Read(p []byte) (int, error) {
	n, err := k.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		k.Err = err
	}
	return n, err
}

// ReadAll reads r to its end. More than most bytes are an [ErrTooLarge].
func ReadAll(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%w of %s", ErrTooLarge, ByteCount(most))
	}
	return data, err
}

// ReadFile reads a plain file; more than most bytes are an [ErrTooLarge]. A symbolic
// link is fs.ErrNotExist, because this program did not write it.
func ReadFile(name string, most int64) ([]byte, error) {
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fs.ErrNotExist)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return ReadAll(file, most)
}

// PeerReader reads the response of a host, at most Left bytes, and explains its errors.
type PeerReader struct {
	Reader     io.Reader
	Host       string
	Left, Most int64                              // bytes: still to be read, and at first
	Explain    func(err error, host string) error // turns an error into one sentence
}

func (w *PeerReader) Read(p []byte) (int, error) {
	if int64(len(p)) > w.Left+1 {
		p = p[:w.Left+1]
	}
	n, err := w.Reader.Read(p)
	if w.Left -= int64(n); w.Left < 0 {
		return 0, fmt.Errorf("%s sent more than the %s that are read: %w", w.Host, ByteCount(w.Most), ErrTooLarge)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = w.Explain(err, w.Host)
	}
	return n, err
}

// ContextReader is a reader that fails with the error of its context once that has
// ended.
type ContextReader struct {
	Context context.Context
	Reader  io.Reader
}

func (c ContextReader) Read(p []byte) (int, error) {
	if err := c.Context.Err(); err != nil {
		return 0, err
	}
	return c.Reader.Read(p)
}
