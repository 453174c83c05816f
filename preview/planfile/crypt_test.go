package planfile

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"golang.org/x/crypto/ssh"
)

// keyPair makes an age key; the file holds its secret half.
func keyPair(t testing.TB) (recipient, file string) {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return identity.Recipient().String(), write(t, "# created: today\n"+identity.String()+"\n")
}

func write(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func recipients(t testing.TB, values ...string) Recipients {
	t.Helper()
	r, err := ReadRecipients(values)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEveryRecipientOpensAnEncryptedPlanAndNobodyElse(t *testing.T) {
	alice, aliceKey := keyPair(t)
	bob, bobKey := keyPair(t)
	carol, carolKey := keyPair(t)
	_, eveKey := keyPair(t)
	p := plan(t, "password") // which may not be saved in the clear
	data, err := Pack(p, Options{Recipients: recipients(t, alice, write(t, "# team\n"+bob+"\n"+carol+"\n"))})
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(data, []byte("plan.json")) {
		t.Error("the plan is in the clear")
	}
	for name, key := range map[string]string{"alice": aliceKey, "bob": bobKey, "carol": carolKey} {
		file, err := Open(data, Keys{File: key})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if file.Plan.Digest != p.Digest {
			t.Errorf("%s reads digest %s", name, file.Plan.Digest)
		}
	}
	for name, c := range map[string]struct{ key, want string }{
		"a key of somebody else":  {eveKey, "encrypted for others"},
		"no key at all":           {"", "--plan-identity FILE"},
		"a key that is not there": {filepath.Join(t.TempDir(), "none"), "no such file"},
		"something that is no key": {
			write(t, "hunter2\n"), "must hold one age secret key"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(data, Keys{File: c.key})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if _, damaged := errors.AsType[*DamagedError](err); damaged {
				t.Error("the file is said to be damaged")
			}
		})
	}
}

func TestSSHKeysOpenAnEncryptedPlan(t *testing.T) {
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	long, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, secret := range map[string]crypto.Signer{"ssh-ed25519": edwards, "ssh-rsa": long} {
		t.Run(name, func(t *testing.T) {
			public, err := ssh.NewPublicKey(secret.Public())
			if err != nil {
				t.Fatal(err)
			}
			line := string(ssh.MarshalAuthorizedKey(public))
			if !strings.HasPrefix(line, name+" ") {
				t.Fatalf("the key is %q", line)
			}
			block, err := ssh.MarshalPrivateKey(secret, "")
			if err != nil {
				t.Fatal(err)
			}
			p := plan(t, "password")
			data, err := Pack(p, Options{Recipients: recipients(t, strings.TrimSpace(line))})
			if err != nil {
				t.Fatal(err)
			}
			file, err := Open(data, Keys{File: write(t, string(pem.EncodeToMemory(block)))})
			if err != nil || file.Plan.Digest != p.Digest {
				t.Errorf("opened: %v", err)
			}
		})
	}
	short, err := rsa.GenerateKey(rand.Reader, 1024) //nolint:gosec // too short: it is refused
	if err != nil {
		t.Skip("this Go makes no such short keys: ", err)
	}
	public, err := ssh.NewPublicKey(short.Public())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRecipients([]string{strings.TrimSpace(string(ssh.MarshalAuthorizedKey(public)))}); err == nil || !strings.Contains(err.Error(), "2048 bits") {
		t.Errorf("a key of 1024 bits: %v", err)
	}
}

func TestAnEncryptedPlanThatWasCutOffOrChangedIsDamaged(t *testing.T) {
	alice, key := keyPair(t)
	whole, err := Pack(plan(t, "key"), Options{Recipients: recipients(t, alice)})
	if err != nil {
		t.Fatal(err)
	}
	changed := func(at int) []byte {
		out := bytes.Clone(whole)
		out[at] ^= 1
		return out
	}
	mac := bytes.Index(whole, []byte("\n--- ")) + 8
	for name, data := range map[string][]byte{
		"cut off in its header":      whole[:40],
		"cut off after its header":   whole[:mac+50],
		"without its last byte":      whole[:len(whole)-1],
		"changed in its last byte":   changed(len(whole) - 1),
		"changed in the middle":      changed(mac + (len(whole)-mac)/2),
		"with another header's mark": changed(mac),
		"a header without an end":    append([]byte(ageIntro), bytes.Repeat([]byte("-> x y\nAAAA\n"), 1<<14)...),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(data, Keys{File: key})
			if _, damaged := errors.AsType[*DamagedError](err); !damaged {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestRecipientsAreRefusedWithAReason(t *testing.T) {
	alice, key := keyPair(t)
	secret, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	identity := strings.Split(string(secret), "\n")[1]
	for name, c := range map[string]struct{ value, want string }{
		"a key that was cut off":      {alice[:30], "cut off or mistyped"},
		"a secret key":                {identity, "that is a secret key"},
		"an ssh key that was cut off": {"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI", "cut off or is of another type"},
		"an ssh key of another type":  {"ssh-dss AAAAB3NzaC1kc3MAAACBAP", "ssh-ed25519"},
		"a line that is no key":       {write(t, alice+"\nhello\n"), "line 2 is none"},
		"a file that is not there":    {"none", "no such file"},
		"a file of something else":    {write(t, "hello\n"), "want public keys of age or ssh"},
		"a file without keys":         {write(t, "# nothing\n"), "want public keys of age"},
		"a file of secret keys":       {key, "want public keys of age"},
		"a file that is far too long": {write(t, strings.Repeat("# x\n", 1<<19)), "more than 1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ReadRecipients([]string{alice, c.value})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), identity) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// sshKey makes an ed25519 key of ssh; the file holds its private half.
func sshKey(t testing.TB, passphrase string) (recipient, file string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	half, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if passphrase != "" {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte(passphrase))
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(half))) + " someone@example", write(t, string(pem.EncodeToMemory(block)))
}

func TestSSHKeysOpenPlansThatAreEncryptedForThem(t *testing.T) {
	alice, aliceKey := sshKey(t, "")
	bob, bobKey := keyPair(t)
	_, eveKey := sshKey(t, "")
	_, lockedKey := sshKey(t, "open sesame")
	p := plan(t, "password")
	data, err := Pack(p, Options{Recipients: recipients(t, write(t, "# team\n"+bob+"\n"), alice)})
	if err != nil {
		t.Fatal(err)
	}
	for name, key := range map[string]string{"ssh": aliceKey, "age": bobKey} {
		if file, err := Open(data, Keys{File: key}); err != nil || file.Plan.Digest != p.Digest {
			t.Errorf("with the %s key: %v", name, err)
		}
	}
	for key, want := range map[string]string{
		eveKey: "encrypted for others", lockedKey: "protected by a passphrase",
		write(t, "-----BEGIN OPENSSH PRIVATE KEY-----\naGVsbG8=\n-----END OPENSSH PRIVATE KEY-----\n"): "no private key",
	} {
		if _, err := Open(data, Keys{File: key}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func FuzzOpenEncrypted(f *testing.F) {
	alice, key := keyPair(f)
	whole, err := Pack(plan(f, "key"), Options{Recipients: recipients(f, alice)})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add([]byte(ageIntro + "-> X25519 x\n---\n"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, _ = Open(data, Keys{File: key}) // no panic, no hang
	})
}
