// Package program runs programs of the user's own: executable files
// kubectl-operator-KIND-NAME that answer one request, on standard input, with one
// answer on standard output.
//
// A program runs with the user's rights and is not sandboxed, so only the user names
// one, on the command line or in the configuration; content never does. The program that
// runs is a private copy of the bytes whose digest the plan seals, without a shell, in
// an empty directory, with a few environment variables, within [Limits]. Whatever it
// started is ended with it.
package program

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Limits are the limits of one run of a program.
type Limits struct {
	Input, Output int // bytes of standard input and output
	Time          time.Duration
	// Memory is the most bytes of data that each of its processes may have. Only Linux
	// holds it.
	Memory int64
}

// Limits returns the limits for making plans. A format has 32 MiB of input and of
// output, one minute and 2 GiB of memory; a source, which has to fetch, 128 MiB of
// output and five minutes.
func (k Kind) Limits() Limits {
	l := Limits{Input: 32 << 20, Output: 32 << 20, Time: time.Minute, Memory: 2 << 30}
	if k == Source {
		l.Input, l.Output, l.Time = 64<<10, 128<<20, 5*time.Minute
	}
	return l
}

// environment returns the variables of the user's that a program of the kind is given,
// with LANG=C. A format has everything in its request. A source has to reach a server
// and to find the tools and credentials for it.
func (k Kind) environment() []string {
	if k == Format {
		return nil
	}
	return []string{
		"PATH", "HOME", "XDG_CONFIG_HOME", "SSH_AUTH_SOCK", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
		"SSL_CERT_FILE", "SSL_CERT_DIR",
	}
}

// maxProgram is the largest size in bytes of a program's file (512 MiB).
const maxProgram = 512 << 20

// Program is an executable file with its digest.
type Program struct {
	Kind   Kind
	Name   string // of the format or source
	File   string // name of the file
	Digest string // sha256 of the file's bytes

	path   string
	Limits Limits // of each of its runs
}

// Open reads an executable file and computes its digest.
func (k Kind) Open(named, path string, limits Limits) (*Program, error) {
	p := &Program{Kind: k, Name: named, File: filepath.Base(path), path: path, Limits: limits}
	var err error
	if p.Digest, err = p.copyTo(io.Discard); err != nil {
		return nil, fmt.Errorf("reading the %s program %s: %w", k, path, err)
	}
	return p, nil
}

// Hold returns an error unless the program's digest is that one, in hexadecimal digits
// with or without "sha256:".
func (p *Program) Hold(digest string) error {
	if want := "sha256:" + strings.TrimPrefix(digest, "sha256:"); p.Digest != want {
		return fmt.Errorf("%s %s: %s is %s, and the configuration allows only %s", p.Kind, p.Name, p.path, p.Digest, want)
	}
	return nil
}

// Announcement returns what is said before the program runs.
func (p *Program) Announcement() string {
	return "running " + p.File + " " + p.Digest + ", with your rights, not sandboxed"
}

// copyTo writes the program's bytes to w and returns their digest. A file that is not
// executable, or too large, is an error.
func (p *Program) copyTo(w io.Writer) (string, error) {
	// Without O_NONBLOCK a pipe of that name would hang here.
	file, err := os.OpenFile(p.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", cause(err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return "", cause(err)
	}
	switch {
	case !info.Mode().IsRegular():
		return "", errors.New("it is not a file")
	case info.Mode().Perm()&0o111 == 0:
		return "", errors.New("it is not executable; chmod +x makes it so")
	case info.Size() > maxProgram:
		return "", fmt.Errorf("%d bytes are more than the %d that a program may have", info.Size(), maxProgram)
	}
	hash := sha256.New()
	if _, err := io.Copy(io.MultiWriter(hash, w), io.LimitReader(file, maxProgram)); err != nil {
		return "", cause(err)
	}
	return "sha256:" + hex.EncodeToString(hash.Sum(nil)), nil
}

// runDirectory is the directory of one run, which only the user can access, with a copy
// of the program and an empty working directory.
type runDirectory struct{ dir, program, work string }

// prepare makes a directory for a run with a copy of the program, and verifies the
// digest of the copy: changes of the original have no effect any more.
func (p *Program) prepare() (*runDirectory, error) {
	dir, err := os.MkdirTemp("", p.Kind.Prefix()) // 0700
	if err != nil {
		return nil, fmt.Errorf("making a directory for the %s program: %w", p.Kind, err)
	}
	at := &runDirectory{dir: dir, program: filepath.Join(dir, p.File), work: filepath.Join(dir, "work")}
	if err := errors.Join(os.Mkdir(at.work, 0o700), p.copyInto(at.program)); err != nil {
		at.remove()
		return nil, fmt.Errorf("copying the %s program %s: %w", p.Kind, p.File, err)
	}
	return at, nil
}

// remove deletes the directory and what the program left in it.
func (at *runDirectory) remove() { _ = os.RemoveAll(at.dir) }

func (p *Program) copyInto(path string) error {
	// A process started meanwhile would inherit the open file, and Linux does
	// not run what is open for writing (ETXTBSY, golang.org/issue/22315).
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o500)
	if err != nil {
		return cause(err)
	}
	digest, err := p.copyTo(file)
	if err := errors.Join(err, file.Close()); err != nil {
		return cause(err)
	}
	if digest != p.Digest {
		return fmt.Errorf("it changed while it was used: it was %s and is %s", p.Digest, digest)
	}
	return nil
}

// cause returns an error of package os without its operation and path, which the caller
// adds.
func cause(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
