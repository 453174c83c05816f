package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// errorKeeper remembers that an error came from reading, not from writing.
type errorKeeper struct {
	r   io.Reader
	err error
}

func (k *errorKeeper) Read(p []byte) (int, error) {
	n, err := k.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		k.err = err
	}
	return n, err
}

// readCapped is io.ReadAll with a cap.
func readCapped(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%w of %s", errTooLarge, byteCount(most))
	}
	return data, err
}

// readRegularFile reads a small plain file of the cache; a link there is not ours.
func readRegularFile(name string, most int64) ([]byte, error) {
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fs.ErrNotExist)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return readCapped(file, most)
}

// webReader caps an answer and explains its errors.
type webReader struct {
	r          io.Reader
	host       string
	left, most int64
	explain    func(err error, host string) error // turns an error into one sentence
}

func (w *webReader) Read(p []byte) (int, error) {
	if int64(len(p)) > w.left+1 {
		p = p[:w.left+1]
	}
	n, err := w.r.Read(p)
	if w.left -= int64(n); w.left < 0 {
		return 0, fmt.Errorf("%s sent more than the %s that are read: %w", w.host, byteCount(w.most), errTooLarge)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = w.explain(err, w.host)
	}
	return n, err
}

// cancelReader stops reading when its context ends.
type cancelReader struct {
	ctx context.Context
	r   io.Reader
}

func (c cancelReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
