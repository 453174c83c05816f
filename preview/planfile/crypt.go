package planfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"filippo.io/age"
	"filippo.io/age/agessh"
	"golang.org/x/crypto/ssh"
)

// The head of an encrypted plan file (age-encryption.org/v1). Its length is
// capped because every stanza in it is tried with every key.
const (
	ageIntro     = "age-encryption.org/v1\n"
	maxAgeHeader = 64 << 10
	maxKeyFile   = 1 << 20
)

// DamagedError is the error for an encrypted plan file that is incomplete or was
// changed.
type DamagedError struct{ Err error }

func (e *DamagedError) Error() string {
	return "the encrypted plan was cut off or changed: " + e.Err.Error()
}

func (e *DamagedError) Unwrap() error { return e.Err }

// Recipients are the public keys that a plan file is encrypted for.
type Recipients []age.Recipient

// ReadRecipients reads public keys of age (age1...) and ssh (ssh-ed25519 and
// ssh-rsa, as in authorized_keys). Any other value is the name of a file with one
// key per line, as for age -R.
func ReadRecipients(values []string) (Recipients, error) {
	var out Recipients
	for _, value := range values {
		switch {
		case isPublicKey(value):
			r, err := recipient(value)
			if err != nil {
				return nil, err
			}
			out = append(out, r)
		case strings.HasPrefix(value, "AGE-SECRET-KEY-"):
			return nil, errors.New("that is a secret key; name its public half, age1..., as age-keygen -y prints it")
		default:
			read, err := recipientsFile(value)
			if err != nil {
				return nil, err
			}
			out = append(out, read...)
		}
	}
	return out, nil
}

func isPublicKey(text string) bool {
	return strings.HasPrefix(text, "age1") || strings.HasPrefix(text, "ssh-")
}

func recipient(text string) (age.Recipient, error) {
	if strings.HasPrefix(text, "ssh-") {
		r, err := agessh.ParseRecipient(text)
		if err != nil {
			return nil, fmt.Errorf("%.80q is no public ssh key of type ssh-ed25519, or ssh-rsa of 2048 bits or more: it was cut off or is of another type", text)
		}
		return r, nil
	}
	r, err := age.ParseX25519Recipient(text)
	if err != nil {
		return nil, fmt.Errorf("%.80q is not a public key of age: it was cut off or mistyped", text)
	}
	return r, nil
}

// recipientsFile reads a file with one key per line. An error does not quote the
// line, because the file may contain secret keys.
func recipientsFile(path string) (Recipients, error) {
	data, err := readSmall(path)
	if err != nil {
		return nil, fmt.Errorf("reading recipients: %w", err)
	}
	var out Recipients
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if !isPublicKey(line) {
			return nil, fmt.Errorf("reading recipients of %s: line %d is none; want public keys of age or ssh, age1... or ssh-ed25519 ..., one a line", path, n)
		}
		r, err := recipient(line)
		if err != nil {
			return nil, fmt.Errorf("reading recipients of %s: line %d: %w", path, n, err)
		}
		out = append(out, r)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("reading recipients of %s: it has none; want public keys of age or ssh, one a line", path)
	}
	return out, nil
}

// Keys name the file of the secret keys that decrypt plan files. It is read only when
// an encrypted file is opened.
type Keys struct {
	// File holds secret keys of age, one a line, as age-keygen writes them, or a
	// private ssh key without a passphrase. Empty means that there are none.
	File string
}

func (k Keys) read() ([]age.Identity, error) {
	if k.File == "" {
		return nil, errors.New("it is encrypted; name the file of the age key that opens it: --plan-identity FILE, or SOPS_AGE_KEY_FILE")
	}
	data, err := readSmall(k.File)
	if err != nil {
		return nil, fmt.Errorf("reading the age key: %w", err)
	}
	// The cause is left out: it may quote the key.
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("-----BEGIN ")) {
		identity, err := agessh.ParseIdentity(data)
		if _, locked := errors.AsType[*ssh.PassphraseMissingError](err); locked {
			return nil, fmt.Errorf("reading the ssh key: %s is protected by a passphrase; name a key without one, or encrypt for an age key", k.File)
		}
		if err != nil {
			return nil, fmt.Errorf("reading the ssh key: %s is no private key of type ed25519 or rsa", k.File)
		}
		return []age.Identity{identity}, nil
	}
	found, err := age.ParseIdentities(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("reading the age key: %s must hold one age secret key, AGE-SECRET-KEY-1..., and nothing else", k.File)
	}
	return found, nil
}

func readSmall(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxKeyFile+1))
	if err == nil && len(data) > maxKeyFile {
		err = fmt.Errorf("%s has more than 1 MiB", path)
	}
	return data, err
}

// encrypt encrypts a whole plan file, because its actions may be as confidential as the
// values in it.
func encrypt(data []byte, to Recipients) ([]byte, error) {
	var out bytes.Buffer
	w, err := age.Encrypt(&out, to...)
	if err != nil {
		return nil, fmt.Errorf("encrypting the plan: %w", err)
	}
	if _, err := w.Write(data); err != nil {
		return nil, fmt.Errorf("encrypting the plan: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("encrypting the plan: %w", err)
	}
	return out.Bytes(), nil
}

func encrypted(data []byte) bool { return bytes.HasPrefix(data, []byte(ageIntro)) }

// decrypt decrypts a plan file, and returns it only if all of it is authentic.
func decrypt(data []byte, keys Keys) ([]byte, error) {
	identities, err := keys.read()
	if err != nil {
		return nil, err
	}
	if !bytes.Contains(data[:min(len(data), maxAgeHeader)], []byte("\n---")) {
		return nil, &DamagedError{errors.New("its header does not end")}
	}
	plain, err := age.Decrypt(bytes.NewReader(data), identities...)
	if _, wrong := errors.AsType[*age.NoIdentityMatchError](err); wrong {
		return nil, fmt.Errorf("it is encrypted for others: no key in %s opens it", keys.File)
	}
	if err != nil {
		return nil, &DamagedError{err}
	}
	out, err := io.ReadAll(io.LimitReader(plain, MaxBytes+1))
	if err != nil {
		return nil, &DamagedError{err}
	}
	if len(out) > MaxBytes {
		return nil, errTooLarge
	}
	return out, nil
}
