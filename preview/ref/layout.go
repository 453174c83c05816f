package ref

import (
	"fmt"
	"path/filepath"
	"strings"
)

var layoutKind = sourceKind{
	kind: KindLayout, schemes: []string{"oci-layout:"},
	parse:     func(text, _, rest string) (Reference, error) { return parseLayout(text, rest) },
	baseName:  func(r Reference) string { return filepath.Base(r.Path) },
	immutable: func(r Reference) bool { return r.Digest != "" },
	pinned: func(p Pinned, i int, r Reference) string {
		return "oci-layout:" + r.Path + "@" + p.Sources[i].Digest
	},
	credentials: CredentialsNone,
	content:     ContentAny,
}

// parseLayout parses oci-layout:PATH[:TAG][@sha256:HEX]; rest is text without the
// scheme. Text after the last ":" is a tag if it is valid as one: the path a:b/c has
// none, because a tag contains no "/".
func parseLayout(text, rest string) (Reference, error) {
	out := Reference{Kind: KindLayout, Text: text, Path: rest}
	if path, digest, ok := strings.Cut(rest, "@sha256:"); ok {
		if out.Path, out.Digest = path, "sha256:"+digest; !IsDigest(out.Digest) {
			return Reference{}, fmt.Errorf("reference %q: a digest is sha256: and %d lower-case hex digits", text, sha256Hex)
		}
	}
	if at := strings.LastIndex(out.Path, ":"); at >= 0 && tagPattern.MatchString(out.Path[at+1:]) {
		out.Path, out.Tag = out.Path[:at], out.Path[at+1:]
	}
	if out.Path == "" {
		return Reference{}, fmt.Errorf("reference %q names no OCI layout; write oci-layout:PATH or oci-layout:PATH:TAG", text)
	}
	return out, nil
}
