package plugins

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

func TestALockRefusesWhatItDoesNotHold(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "one"), "1\n")
	config := own(`{output: a, reference: ./one}`)
	set, got, err := fetched(t, dir, config, Request{})
	if err != nil {
		t.Fatal(err)
	}
	written := NewLock(set.Name, "linux/amd64", got, nil).Encode()
	lock, err := ReadLock(written)
	if err != nil {
		t.Fatal(err)
	}
	if again := lock.Encode(); !bytes.Equal(again, written) {
		t.Errorf("written again it is\n%s\nnot\n%s", again, written)
	}
	_, got, err = fetched(t, dir, config, Request{Lock: lock})
	if err != nil || !got[0].Pinned {
		t.Fatalf("the locked artifact: %v", err)
	}
	refused := func(name, want string, config string, q Request) {
		t.Helper()
		_, _, err := fetched(t, dir, config, q)
		var refusal *engine.RefusedError
		if !errors.As(err, &refusal) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	put(t, filepath.Join(dir, "two"), "1\n")
	refused("another reference", "the lock file has it from ./one, the config from ./two", own(`{output: a, reference: ./two}`), Request{Lock: lock})
	refused("another platform", "has nothing for it on linux/arm64", config, Request{Lock: lock, Platform: "linux/arm64"})
	refused("another plugin", "has nothing for it on linux/amd64", own(`{output: b, reference: ./one}`), Request{Lock: lock})
	put(t, filepath.Join(dir, "one"), "2\n")
	refused("other bytes", "and the lock file has sha256:", config, Request{Lock: lock})

	_, got, err = fetched(t, dir, config, Request{Platform: "linux/arm64"})
	if err != nil {
		t.Fatal(err)
	}
	both := NewLock(set.Name, "linux/arm64", got, lock)
	if len(both.Platforms) != 2 || both.Platforms["linux/amd64"][0] != lock.Platforms["linux/amd64"][0] {
		t.Errorf("the lock of another platform is lost: %+v", both)
	}
}

func TestBadLocksAreRefused(t *testing.T) {
	const head = "apiVersion: kubectl-operator/v1alpha1\nkind: PluginLock\nmetadata: {name: a}\n"
	for text, want := range map[string]string{
		"": "it holds 0 documents", "a: b": "it is no PluginLock", head + "more: 1": "the field more is not supported",
		head + "platforms: [{platform: a/b, artifacts: [{plugin: a, reference: b, digest: c}]}]": "it is not sha256:",
		head + "platforms: [{platform: a/b}, {platform: a/b}]":                                   "it is there twice",
	} {
		if _, err := ReadLock([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzReadLock(f *testing.F) {
	f.Add([]byte("apiVersion: kubectl-operator/v1alpha1\nkind: PluginLock\nmetadata: {name: a}\nplatforms: [{platform: a/b, artifacts: []}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		lock, err := ReadLock(data)
		if err != nil {
			return
		}
		again, err := ReadLock(lock.Encode())
		if err != nil || !bytes.Equal(again.Encode(), lock.Encode()) {
			t.Errorf("it does not come back as it is: %v", err)
		}
	})
}
