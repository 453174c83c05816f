package planfile

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// SecretsError is the error for a plan whose file would contain secret values in
// plain text.
type SecretsError struct {
	Objects []string
}

func (e *SecretsError) Error() string {
	named := e.Objects
	if len(named) > maxNamed {
		named = append(slices.Clone(named[:maxNamed]), fmt.Sprintf("and %d more", len(e.Objects)-maxNamed))
	}
	return fmt.Sprintf("the plan holds secret values (%s); --plan-recipient encrypts it, --plaintext-secrets saves them in the clear", strings.Join(named, ", "))
}

// maxNamed is the most objects that an error names.
const maxNamed = 5

// errTooLarge is the error for a plan file of more than [MaxBytes].
var errTooLarge = fmt.Errorf("it has more than the %d MiB that a plan file may have", MaxBytes>>20)

// Options are how a plan is saved: encrypted for recipients, or with secret values in
// plain text.
type Options struct {
	// Recipients, when there are any, are the only ones who can read it.
	Recipients Recipients
	// PlaintextSecrets allows secret values in a file that everybody can read.
	PlaintextSecrets bool
}

// Pack returns a plan file as bytes, encrypted if there are recipients. A plan with
// secret values that is neither encrypted nor allowed in plain text is a
// [SecretsError].
func Pack(p *preview.Plan, o Options) ([]byte, error) {
	if ids := SensitiveObjects(p); len(ids) > 0 && !o.PlaintextSecrets && len(o.Recipients) == 0 {
		return nil, &SecretsError{Objects: ids}
	}
	var b bytes.Buffer
	if err := Encode(&b, p); err != nil {
		return nil, fmt.Errorf("saving the plan: %w", err)
	}
	if len(o.Recipients) == 0 {
		return b.Bytes(), nil
	}
	return encrypt(b.Bytes(), o.Recipients)
}

// Save writes a plan file with mode 0600. A file that exists is an [ExistsError] and is
// not overwritten; an error leaves no file.
func Save(path string, p *preview.Plan, o Options) error {
	data, err := Pack(p, o)
	if err != nil {
		return err
	}
	if err := WriteNew(path, data); err != nil {
		return fmt.Errorf("saving the plan: %w", err)
	}
	return nil
}

// WriteNew writes a file of mode 0600 atomically. A file that exists is an
// [ExistsError].
func WriteNew(path string, data []byte) error {
	if _, err := os.Lstat(path); err == nil {
		return &ExistsError{path}
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".plan-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	// A link fails when the name was taken meanwhile, where a rename would overwrite.
	err = os.Link(temp.Name(), path)
	if errors.Is(err, os.ErrExist) {
		return &ExistsError{path}
	}
	return err
}

// ExistsError is the error for a file that already exists.
type ExistsError struct{ Path string }

func (e *ExistsError) Error() string {
	return e.Path + " exists and is not overwritten; remove it or name another file"
}

// SensitiveObjects returns the ids of the objects whose bodies contain secret values.
func SensitiveObjects(p *preview.Plan) []string {
	var ids []string
	for i := range p.Objects {
		o := &p.Objects[i]
		for _, body := range []map[string]any{o.Planned, o.LiveBody, o.ResultBody} {
			if body != nil && preview.HasSensitive(body) {
				ids = append(ids, o.ID)
				break
			}
		}
	}
	return ids
}

// File is a plan file that was read. Its plan has bodies and is not verified yet.
type File struct {
	Plan   *preview.Plan
	SHA256 string // of the file's bytes, as sha256:HEX
}

// Load reads the plan file at a path, and decrypts it with keys if it is encrypted.
func Load(path string, keys Keys) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the plan: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading the plan %s: %w", path, err)
	}
	loaded, err := Open(data, keys)
	if err != nil {
		return nil, fmt.Errorf("reading the plan %s: %w", path, err)
	}
	return loaded, nil
}

// Open is [Load] for the bytes of a plan file.
func Open(data []byte, keys Keys) (*File, error) {
	if len(data) > MaxBytes {
		return nil, errTooLarge
	}
	out := &File{SHA256: fmt.Sprintf("sha256:%x", sha256.Sum256(data))}
	var err error
	if encrypted(data) {
		if data, err = decrypt(data, keys); err != nil {
			return nil, err
		}
	}
	out.Plan, err = Decode(bytes.NewReader(data))
	return out, err
}
