// Program kubectl-operator-source-sums is an example of a source by a program: its
// address is the URL of a file SHA256SUMS, as sha256sum prints one, and the content is
// the files that it lists, fetched from next to it and compared with their sums.
//
// It takes nothing but the standard library, on purpose: a source is one JSON request
// on standard input and one tar on standard output, in any language.
package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
)

// request is the part of the request that is used here.
type request struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Spec       struct {
		Address string `json:"address"`
	} `json:"spec"`
}

const maxBytes = 16 << 20 // of one file

func main() {
	// The tar is written when everything is there: half an answer is none.
	var out bytes.Buffer
	err := run(os.Stdin, &out)
	if err == nil {
		_, err = out.WriteTo(os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(stdin io.Reader, out io.Writer) error {
	var in request
	if err := json.NewDecoder(stdin).Decode(&in); err != nil {
		return fmt.Errorf("no request on standard input: %w", err)
	}
	if in.APIVersion != "kubectl-operator/v1alpha1" || in.Kind != "SourceRequest" {
		return errors.New("the request is none of kubectl-operator/v1alpha1 SourceRequest")
	}
	base, err := url.Parse(in.Spec.Address)
	if err != nil || base.Scheme != "https" && base.Scheme != "http" {
		return errors.New("want the URL of a file SHA256SUMS")
	}
	sums, err := get(base)
	if err != nil {
		return err
	}
	return writeFiles(base, sums, out)
}

// writeFiles writes the files that the list names as a tar. Its members have no time and
// are in the order of the list, so that the same files are the same bytes.
func writeFiles(base *url.URL, sums []byte, out io.Writer) error {
	files := tar.NewWriter(out)
	lines := bufio.NewScanner(bytes.NewReader(sums))
	for lines.Scan() {
		sum, name, found := strings.Cut(lines.Text(), "  ")
		if !found || !path.IsAbs("/"+name) || path.Clean("/"+name) != "/"+name {
			return fmt.Errorf("%q is no line of sha256sum with a path below its directory", lines.Text())
		}
		data, err := get(base.JoinPath("..", name))
		if err != nil {
			return err
		}
		if is := sha256.Sum256(data); hex.EncodeToString(is[:]) != sum {
			return fmt.Errorf("%s is sha256 %x, and the list says %s", name, is, sum)
		}
		if err := files.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(data))}); err != nil {
			return err
		}
		if _, err := files.Write(data); err != nil {
			return err
		}
	}
	return errors.Join(lines.Err(), files.Close())
}

func get(at *url.URL) ([]byte, error) {
	answer, err := http.Get(at.String())
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s", at, answer.Status)
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxBytes+1))
	if err == nil && len(data) > maxBytes {
		err = fmt.Errorf("%s has more than %d MiB", at, maxBytes>>20)
	}
	return data, err
}
