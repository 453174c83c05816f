package ref

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// imgpkgGroup is the API group of the lock files of imgpkg.
const imgpkgGroup = "imgpkg.carvel.dev"

// bundleLock reads the file that "imgpkg copy --lock-output" and "imgpkg push" write: the
// bundle, by its digest, where it was copied to. The images of the bundle come from the
// copy too, according to the bundle's own repository.
func (r *reader) bundleLock(f *strictReader) {
	r.Release, r.noAnnotations = r.asked.Name, true
	image := f.At("bundle.image")
	f.Know("bundle.tag") // that the digest was resolved from
	text := image.Need()
	if _, digest, _ := strings.Cut(text, "@"); text != "" && !IsDigest(digest) {
		image.Fail("it has no digest; a lock file names what it locks by one")
		return
	}
	r.remote(image, imageText(text))
	r.pinEach(nil)
}

// lockName returns the name of a lock file, which has none itself: the end of the
// bundle's repository.
func lockName(body map[string]any) string {
	name := repository(preview.String(body, "bundle", "image"))
	return name[strings.LastIndex(name, "/")+1:]
}
