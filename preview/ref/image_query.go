package ref

import (
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// mediaTypePattern matches a media type without parameters (RFC 6838, section 4.2), of
// characters that need no escape in a reference.
var mediaTypePattern = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.+-]{0,126}/[A-Za-z0-9][A-Za-z0-9_.+-]{0,126}$`)

// IsMediaType reports whether s can be the media type of a layer in a reference.
func IsMediaType(s string) bool { return mediaTypePattern.MatchString(s) }

// parseImageQuery parses an image reference with parameters: version, a range over the
// tags of a repository, and layer, the media type of the layer that is the content.
func parseImageQuery(text, image, query string) (Reference, error) {
	values, err := parseQuery(query, "version", "layer")
	if err != nil {
		return Reference{}, fmt.Errorf("reference %q: %w", "oci://"+image, err)
	}
	version, ranged := values["version"]
	layer, selected := values["layer"]
	if selected && !IsMediaType(layer) {
		return Reference{}, fmt.Errorf("reference %q: %q is not a media type", text, clip(layer))
	}
	var r Reference
	if ranged || !selected {
		r, err = parseTags(text, image, version)
	} else {
		r, err = parseImage("oci://"+image, image)
	}
	r.Text, r.Layer = text, layer
	return r, err
}

// withLayer returns the reference of an image with the layer of r, if r selects one.
func withLayer(image string, r Reference) string {
	if r.Layer == "" {
		return image
	}
	return image + "?layer=" + r.Layer
}

// parseTags parses HOST/REPO?version=RANGE, which means the highest tag of the
// repository that is a version in the range.
func parseTags(text, repo, version string) (Reference, error) {
	if err := CheckRange(version); version != "" && err != nil {
		return Reference{}, fmt.Errorf("reference %q: %w", text, err)
	}
	host, name, found := strings.Cut(repo, "/")
	switch {
	case !found || !isHost(host, true) || strings.ContainsAny(name, ":@") || version == "":
		return Reference{}, fmt.Errorf("reference %q: a range is over the tags of a repository; write oci://HOST/REPO?version=RANGE", text)
	case !repoPattern.MatchString(name):
		return Reference{}, fmt.Errorf("reference %q: %q is not a repository name", text, name)
	}
	return Reference{Kind: KindImage, Text: text, Image: repo, Version: version}, nil
}
