package verify

import (
	"errors"
	"strings"

	sigverify "github.com/sigstore/sigstore-go/pkg/verify"

	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// phrases replace frequent error messages of the sigstore library by words that a user
// understands without its source. Other messages are shown unchanged.
var phrases = []struct{ found, words string }{
	{"integrated time outside certificate validity", "its certificate had expired when it was logged"},
	{"certificate has expired or is not yet valid", "its certificate had expired when it was made"},
	{"not enough verified log entries", "it is in no transparency log of the trusted root"},
	{"failed to verify timestamps", "nothing that is trusted proves when it was made"},
	{"failed to verify signed certificate timestamp", "its certificate is in no certificate log of the trusted root"},
	{"could not verify envelope", "it is by another key"},
	{"does not match any digest in statement", errOtherDigest.Error()},
	{"artifact does not match digest", errOtherDigest.Error()},
	{"expected key signature, not certificate", "it is by a certificate, not by a key"},
	{"transparency log hashedrekord entry digest", "its log entry is for another payload"},
	{"failed to verify leaf certificate", "its certificate is not of the trusted root"},
}

// plain returns why a signature was refused, in words that fit into one line.
func plain(err error) string {
	var mismatch *sigverify.ErrValueMismatch
	if errors.As(err, &mismatch) {
		return clip(mismatch.Error())
	}
	text := err.Error()
	for _, p := range phrases {
		if strings.Contains(text, p.found) {
			return p.words
		}
	}
	return clip(text)
}

// clip returns untrusted text as one printable line of at most 300 bytes: the library's
// errors quote what it was given.
func clip(text string) string {
	const most = 300
	if len(text) > most {
		text = text[:most] + "…"
	}
	return textsafe.Line(text)
}
