package bounded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ReadErrors remembers its reader's error other than io.EOF, so that a failed copy
// can distinguish errors of reading from errors of writing.
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

// ReadAll reads to the end, and fails with ErrTooLarge beyond so many bytes.
func ReadAll(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%w of %s", ErrTooLarge, ByteCount(most))
	}
	return data, err
}

// ReadFile reads a plain file of at most so many bytes. A link in its place is
// fs.ErrNotExist: it was not written by this program.
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

// PeerReader reads a response of at most Left bytes from a host.
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

// ContextReader fails with the error of its context once that has ended.
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
