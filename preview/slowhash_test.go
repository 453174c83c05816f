package preview

import (
	"encoding/hex"
	"testing"

	"golang.org/x/crypto/scrypt"
)

func TestARememberedHashIsTheOneThatWasComputed(t *testing.T) {
	var hashes slowHashes
	seen := map[string]string{}
	for _, in := range []struct{ data, salt string }{{"value", "salt"}, {"value", "salt1"}, {"1value", "salt"}, {"other", "salt"}} {
		want, err := scrypt.Key([]byte(in.data), []byte(in.salt), 1<<15, 8, 1, 32)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			got, err := hashes.hash([]byte(in.data), in.salt)
			if err != nil || got != hex.EncodeToString(want) {
				t.Errorf("%q with %q hashes to %s, %v, want %x", in.data, in.salt, got, err, want)
			}
			seen[got] = in.data
		}
	}
	if len(seen) != 4 || len(hashes.known) != 4 {
		t.Errorf("%d hashes of 4 inputs, %d remembered", len(seen), len(hashes.known))
	}
}
