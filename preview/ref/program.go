package ref

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// ProgramScheme begins a reference whose content a program of the user's own fetches.
// It is not the name of the program, so that no misspelt scheme runs one.
const ProgramScheme = "source+"

// programName matches the names of source programs, as in package program.
var programName = lazyregexp.New(`^[a-z0-9]([a-z0-9-]{0,40}[a-z0-9])?$`)

var programKind = sourceKind{
	kind: KindProgram, schemes: []string{ProgramScheme},
	parse:     func(text, _, rest string) (Reference, error) { return parseProgram(text, rest) },
	baseName:  programBase,
	immutable: func(r Reference) bool { return r.SHA256 != "" },
	pinned: func(p Pinned, i int, r Reference) string {
		return ProgramScheme + r.Name + ":" + r.Address + digestFragment + strings.TrimPrefix(p.Sources[i].Digest, "sha256:")
	},
	credentials: CredentialsNone, // those that the program finds itself
	content:     ContentFiles,
}

// digestFragment begins the digest at the end of a reference.
const digestFragment = "#sha256="

// parseProgram parses NAME:ADDRESS[#sha256=HEX]. The address is the program's own; a
// part that would be a credential in a URL is refused, since plans record the address.
func parseProgram(text, rest string) (Reference, error) {
	name, address, found := strings.Cut(rest, ":")
	if err := checkAuthority(address); err != nil {
		return Reference{}, err
	}
	if !found || !programName.MatchString(name) {
		return Reference{}, fmt.Errorf("reference %q: write %sNAME:ADDRESS, where kubectl-operator-source-NAME is a program that reads the address", text, ProgramScheme)
	}
	out := Reference{Kind: KindProgram, Text: text, Name: name, Address: address}
	if at := strings.LastIndex(address, digestFragment); at >= 0 {
		out.Address, out.SHA256 = address[:at], "sha256:"+address[at+len(digestFragment):]
		if !IsDigest(out.SHA256) {
			return Reference{}, fmt.Errorf("reference %q: what follows \"#\" is sha256= and %d lower-case hex digits", text, sha256Hex)
		}
	}
	if out.Address == "" {
		return Reference{}, fmt.Errorf("reference %q names no address; write %s%s:ADDRESS", text, ProgramScheme, name)
	}
	if _, query, _ := strings.Cut(out.Address, "?"); carriesSecret(query) {
		return Reference{}, errors.New("the reference carries credentials in its query; leave them out: the program finds them itself")
	}
	return out, nil
}

// programBase returns the last part of an address that is a path or a URL.
func programBase(r Reference) string {
	where, _, _ := strings.Cut(r.Address, "?")
	where, _, _ = strings.Cut(where, "#")
	if _, rest, found := strings.Cut(where, "://"); found {
		where = rest
	}
	if base := path.Base(strings.TrimRight(where, "/")); base != "." && base != "/" {
		return base
	}
	return r.Name
}
